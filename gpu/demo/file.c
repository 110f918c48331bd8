// SPDX-License-Identifier: BSD-2-Clause
/*
 * The file at either end: all of it in memory that a NIC may read or write.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "demo.h"

#define PIECE (16U << 20) /* bytes between two signs of life */

void *demo_map(size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

void demo_unmap(void *mem, size_t size)
{
	if (mem)
		munmap(mem, size);
}

static int read_file(int fd, char *to, size_t size)
{
	ssize_t n;

	while (size) {
		n = read(fd, to, size < PIECE ? size : PIECE);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -ESPIPE; /* shorter than it said */
		if (n > 0) {
			to += n;
			size -= n;
		}
	}
	return 0;
}

static int open_file(const char *path, int *fd, size_t *size)
{
	struct stat st;
	const char *fact = NULL;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*fd < 0)
		return demo_fail(DEMO_CANNOT, path, strerror(errno),
				 "name a file that can be read");
	if (fstat(*fd, &st))
		fact = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		fact = "not a regular file";
	else if (!st.st_size)
		fact = "is empty";
	if (fact) {
		close(*fd);
		return demo_fail(DEMO_CANNOT, path, fact,
				 "name a file with something in it");
	}
	*size = st.st_size;
	return DEMO_GOOD;
}

int demo_load(const char *path, void **data, size_t *size)
{
	int fd, rc;

	rc = open_file(path, &fd, size);
	if (rc)
		return rc;
	*data = demo_map(*size);
	rc = *data ? read_file(fd, *data, *size) : -ENOMEM;
	close(fd);
	if (!rc)
		return DEMO_GOOD;
	demo_unmap(*data, *size);
	*data = NULL;
	return demo_fail(DEMO_CANNOT, path,
			 rc == -ESPIPE ? "got shorter while it was read"
				       : strerror(-rc),
			 "name a file that lies still and fits memory");
}

int demo_store(const char *path, const void *data, size_t size, struct boot *b)
{
	const char *p = data;
	int fd, rc = 0;
	ssize_t n;

	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return demo_fail(DEMO_CANNOT, path, strerror(errno),
				 "give --out a path that can be written");
	while (size && !rc) {
		boot_alive(b);
		n = write(fd, p, size < PIECE ? size : PIECE);
		if (n < 0 && errno != EINTR)
			rc = -errno;
		if (n > 0) {
			p += n;
			size -= n;
		}
	}
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc)
		return DEMO_GOOD;
	return demo_fail(DEMO_CANNOT, path, strerror(-rc),
			 "make room there, or give another --out");
}

int demo_sha256(const void *data, size_t size, struct boot *b,
		char hex[DEMO_SHA_SIZE])
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	unsigned char digest[EVP_MAX_MD_SIZE] = { 0 };
	const char *p = data;
	unsigned int i;
	size_t n;
	int ok;

	ok = md && EVP_DigestInit_ex(md, EVP_sha256(), NULL);
	for (; ok && size; p += n, size -= n) {
		n = size < PIECE ? size : PIECE;
		ok = EVP_DigestUpdate(md, p, n);
		if (b)
			boot_alive(b);
	}
	ok = ok && EVP_DigestFinal_ex(md, digest, NULL);
	EVP_MD_CTX_free(md);
	if (!ok)
		return demo_fail(DEMO_CANNOT, "SHA-256", "libcrypto failed",
				 "see whether its policy forbids SHA-256");
	for (i = 0; i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	return DEMO_GOOD;
}
