import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

import type { TestProject } from "vitest/node";

import { readJournal, receiveHook } from "./hook-receiver.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Two origins on this machine, outside the Worker. */
    receivers: [string, string];
  }
}

/** A request as the receiver's `/echo` returns it. */
export interface Received {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** DNS responses by name: response codes and the addresses of both families. */
const ZONE: Readonly<Record<string, { status: number; a?: string[]; aaaa?: string[] }>> = {
  "public.zone": { status: 0, a: ["93.184.216.34"], aaaa: ["2606:4700::1111"] },
  "six.zone": { status: 0, aaaa: ["2606:4700::1111"] },
  "mixed.zone": { status: 0, a: ["93.184.216.34"], aaaa: ["::1"] },
  "empty.zone": { status: 0 },
  "broken.zone": { status: 2 },
  "odd.zone": { status: 0, a: ["0x7f.1"] },
};

/** Starts HTTP servers on two ports, whose behaviour depends on the request's path. */
export default async function setup(project: TestProject): Promise<() => void> {
  const counts = new Map<string, number>();
  const servers = [1, 2].map(() =>
    createServer((request, response) => void answer(request, response, counts)),
  );
  const urls = await Promise.all(
    servers.map(async (server) => {
      await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }),
  );
  project.provide("receivers", urls as [string, string]);
  return () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  counts: Map<string, number>,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://receiver");
  const query = (name: string) => url.searchParams.get(name) ?? "";
  const pieces: Uint8Array[] = [];
  for await (const piece of request) pieces.push(piece as Uint8Array);
  const id = query("id");
  counts.set(id, (counts.get(id) ?? 0) + 1);

  switch (url.pathname) {
    case "/echo": {
      const { method = "", headers } = request;
      const body = Buffer.concat(pieces).toString();
      return void response.end(JSON.stringify({ method, path: request.url, headers, body }));
    }
    case "/hook":
      return receiveHook(request, response, url, pieces);
    case "/journal":
      return void response.end(JSON.stringify(readJournal(query("of"))));
    case "/count":
      return void response.end(String(counts.get(query("of")) ?? 0));
    case "/status":
      return void response.writeHead(Number(query("status"))).end("as asked");
    case "/answer": {
      // The first answers of an id may be failures.
      if ((counts.get(id) ?? 0) <= Number(query("failures"))) {
        return void response.writeHead(Number(query("failure")), { "Retry-After": "1" }).end();
      }
      const headers = JSON.parse(query("headers") || "{}") as Record<string, string>;
      return void response.writeHead(Number(query("status") || 200), headers).end(query("body"));
    }
    case "/redirect":
      return void response
        .writeHead(Number(query("status") || 302), { Location: query("to") })
        .end("x".repeat(100_000));
    case "/loop":
      return void response.writeHead(302, { Location: request.url }).end();
    case "/hang":
      return;
    case "/drip":
      response.writeHead(200).write("a");
      return;
    case "/break":
      response.writeHead(200, { "Content-Length": "100" }).write("a");
      return void setTimeout(() => response.destroy(), 50);
    case "/large":
      return void response.end(Buffer.alloc(Number(query("bytes")), "x"));
    case "/bomb":
      return void response
        .writeHead(200, { "Content-Encoding": "gzip" })
        .end(gzipSync(Buffer.alloc(Number(query("bytes")), "x")));
    case "/garbage":
      return void request.socket.end("SSH-2.0-OpenSSH\r\n");
    case "/dns-query":
      return void response.end(JSON.stringify(dnsAnswer(query("name"), query("type"))));
    default:
      return void response.writeHead(404).end();
  }
}

/** A DNS response with an alias record before the addresses, as for most names. */
function dnsAnswer(name: string, type: string): object {
  const { status, a = [], aaaa = [] } = ZONE[name] ?? { status: 3 };
  const code = Number(type);
  const addresses = code === 1 ? a : aaaa;
  const records = addresses.map((data) => ({ name, type: code, TTL: 60, data }));
  return {
    Status: status,
    TC: false,
    Answer: [{ name, type: 5, TTL: 60, data: "alias.zone." }, ...records],
  };
}
