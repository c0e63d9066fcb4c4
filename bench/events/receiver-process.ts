/**
 * A receiver of webhooks that reports the arrival of each delivery. It has its own process, so that
 * the benchmark's other work does not delay it.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { HANGING, type ReceiverMessage } from "./arrival.ts";
import { nowMs } from "./clock.ts";

const report = (message: ReceiverMessage): void => void process.send?.(message);

const server = createServer((request, response) => {
  const atMs = nowMs();
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.once("end", () => {
    const path = request.url ?? "";
    if (path === HANGING) return;
    const [, commit = ""] = /"after": "([0-9a-f]+)"/.exec(Buffer.concat(pieces).toString()) ?? [];
    response.writeHead(204).end();
    report({ path, commit, atMs });
  });
});
server.listen(0, "127.0.0.1", () => report({ port: (server.address() as AddressInfo).port }));

process.once("disconnect", () => process.exit());
