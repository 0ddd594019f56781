/* SPDX-License-Identifier: MIT */
/* Three things about sockets that need a privilege: a port below 1024, ICMP by hand, and hearing who calls
 * (knock.h). A process that has given its privileges up has them done by another one, which does just these.
 */
#ifndef WGTCP_CORE_PORT_PRIVILEGED_SOCKET_H
#define WGTCP_CORE_PORT_PRIVILEGED_SOCKET_H

/* The end of a connection to that other process, which the ports use from now on where their own right does
 * not do; -1: there is none. Once, before there are threads. */
void privileged_socket_use(int handle);

struct sockaddr;

/* bind(2), by that other process where this one may not. As bind, errno included. */
int privileged_socket_bind(int fd, const struct sockaddr *address, unsigned int len);

/* That other process: answers one request that waits at its end. 0, or -EPIPE: nobody is there any more. */
int privileged_socket_serve(int handle);

#endif
