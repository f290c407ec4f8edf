"""memcached-client.py SOCKET: four clients set, get, append and delete; prints what a correct server makes of it."""
import hashlib
import socket
import sys
import threading

COUNT, CLIENTS = 3000, 4
digests = [None] * CLIENTS


def client(number):
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(sys.argv[1])
        stream = server.makefile("rwb")
        digest = hashlib.sha256()

        def ask(command, body=None):
            stream.write(command.encode() + b"\r\n" + (body + b"\r\n" if body is not None else b""))
            stream.flush()
            line = stream.readline()
            digest.update(line)
            while line.startswith(b"VALUE"):
                digest.update(stream.read(int(line.split()[3]) + 2))
                line = stream.readline()

        for index in range(COUNT):
            key, value = "k%d.%d" % (number, index), b"%d," % index * (index % 200)
            ask("set %s 0 0 %d" % (key, len(value)), value)
            if index % 3 == 0:
                ask("append %s 0 0 5" % key, b"extra")
            ask("get k%d.%d" % (number, index // 2))
            if index % 5 == 0:
                ask("delete k%d.%d" % (number, index // 3))
        digests[number] = digest.hexdigest()


threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("\n".join(map(str, digests)))
