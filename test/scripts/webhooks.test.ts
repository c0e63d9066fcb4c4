import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";

import { type Checkout, makeCheckout } from "./support/checkout.ts";
import { type Service, startService } from "./support/service.ts";
import { makeDirectory } from "./support/temporary.ts";

let checkout: Checkout;

beforeAll(() => {
  checkout = makeCheckout();
});
afterAll(() => checkout.remove());

const PASSWORD = "correct horse battery";
const headers = {
  Authorization: `Basic ${Buffer.from(`root:${PASSWORD}`).toString("base64")}`,
  "Content-Type": "application/json",
};

/** Records the repository of each webhook, and responds after 100 ms. */
async function startReceiver() {
  const received: { id: string; name: string }[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const { repository } = JSON.parse(Buffer.concat(pieces).toString());
      received.push({ id: String(request.headers["x-gitea-delivery"]), name: repository.name });
      setTimeout(() => response.end("received"), 100);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/** Kills the service and its runtime, without a chance to clean up. */
async function kill(service: Service, data: string): Promise<void> {
  const { runtime } = JSON.parse(readFileSync(join(data, "lock"), "utf8"));
  await service.stop("SIGKILL");
  process.kill(runtime.pid, "SIGKILL");
  await vi.waitFor(() => expect(() => process.kill(runtime.pid, 0)).toThrow("ESRCH"), {
    timeout: 5000,
  });
}

describe("a service that is killed again and again", () => {
  // A start ends the leases of what was in progress at the kill, and the schedule takes it up at
  // once.
  it(
    "delivers a webhook for each committed change, and for no other",
    { timeout: 240_000 },
    async () => {
      const data = makeDirectory();
      const receiver = await startReceiver();
      const start = () =>
        startService(checkout, { EDGEFORGE_DATA: data, EDGEFORGE_ADMIN_PASSWORD: PASSWORD });
      const acknowledged: string[] = [];
      let service = await start();
      onTestFinished(async () => void (await service.stop()));
      const json = {
        type: "gitea",
        active: true,
        events: ["repository"],
        config: { url: receiver.url, content_type: "json" },
      };
      const path = `${service.url}/api/v1/user/hooks`;
      const created = await fetch(path, { method: "POST", headers, body: JSON.stringify(json) });
      expect(created.status).toBe(201);

      for (const [round, afterMs] of [150, 400, 900].entries()) {
        if (round > 0) service = await start();
        const { url } = service;
        const end = new AbortController();
        const create = async (who: number): Promise<void> => {
          for (let at = 0; !end.signal.aborted; at++) {
            const name = `repo-${round}-${who}-${at}`;
            const body = JSON.stringify({ name });
            const answer = await fetch(`${url}/api/v1/user/repos`, {
              method: "POST",
              headers,
              body,
            });
            if (answer.status === 201) acknowledged.push(name);
          }
        };
        // The last request of each is aborted.
        const work = Promise.allSettled([1, 2, 3].map(create));
        await sleep(2000 + afterMs);
        end.abort();
        await kill(service, data);
        await work;
      }

      service = await start();
      const existing: string[] = [];
      for (let page = 1; page === 1 || existing.length === 50 * (page - 1); page++) {
        const list = `${service.url}/api/v1/user/repos?limit=50&page=${page}`;
        const found = (await (await fetch(list, { headers })).json()) as { name: string }[];
        existing.push(...found.map(({ name }) => name));
      }
      expect(existing).toEqual(expect.arrayContaining(acknowledged));
      expect(acknowledged.length).toBeGreaterThan(10);
      const names = () => [...new Set(receiver.received.map(({ name }) => name))].toSorted();
      await vi.waitFor(() => expect(names()).toEqual(existing.toSorted()), {
        timeout: 100_000,
        interval: 500,
      });
      // A repeated delivery has the same id.
      expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(existing.length);
    },
  );
});
