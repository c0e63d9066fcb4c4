/**
 * A receiver of webhooks that says when each delivery came, in a process of its own: what the benchmark
 * does meanwhile keeps nothing waiting here.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { HANGING, type ReceiverMessage } from "./arrival.ts";
import { nowMs } from "./clock.ts";

const say = (message: ReceiverMessage): void => void process.send?.(message);

const server = createServer((request, response) => {
  const atMs = nowMs();
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.once("end", () => {
    const path = request.url ?? "";
    if (path === HANGING) return;
    const [, commit = ""] = /"after": "([0-9a-f]+)"/.exec(Buffer.concat(pieces).toString()) ?? [];
    response.writeHead(204).end();
    say({ path, commit, atMs });
  });
});
server.listen(0, "127.0.0.1", () => say({ port: (server.address() as AddressInfo).port }));

process.once("disconnect", () => process.exit());
