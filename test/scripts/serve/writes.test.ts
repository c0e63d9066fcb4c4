import { createServer, request } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { describe, expect, it, onTestFinished } from "vitest";

import { passOnWrites } from "../../../scripts/serve/keeper/writes.ts";
import { makeDirectory } from "../support/temporary.ts";

/** A process that learns of writes, and answers when `answer` resolves. */
async function listen(path: string, answer: () => Promise<unknown>): Promise<string[]> {
  const told: string[] = [];
  const server = createServer((sent, response) => {
    told.push(sent.url ?? "");
    void answer().then(() => response.end());
  });
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return told;
}

/** @returns Once all processes know. */
const write = (socketPath: string, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, method: "POST" }, (response) => {
      response.resume().on("end", resolve);
    });
    sent.on("error", reject);
    sent.end();
  });

describe("passOnWrites", () => {
  it("answers when all processes know, those that have ended left out", async () => {
    const directory = makeDirectory();
    const [path, slow, fast, gone] = ["writes", "slow", "fast", "gone"].map((name) =>
      join(directory, name),
    ) as [string, string, string, string];
    const isAnswered = Promise.withResolvers<void>();
    const told = [await listen(slow, () => isAnswered.promise), await listen(fast, async () => {})];
    const service = await passOnWrites(path, () => [slow, fast, gone]);
    onTestFinished(() => service.close());
    let isDone = false;

    const written = write(path, "/quiet").then(() => (isDone = true));
    await expect.poll(() => told).toEqual([["/quiet"], ["/quiet"]]);
    await pause(50);
    expect(isDone).toBe(false);
    isAnswered.resolve();
    await written;

    expect(isDone).toBe(true);
  });

  it("tells once of all writes that come while it tells of one, by scope", async () => {
    const directory = makeDirectory();
    const [path, process] = [join(directory, "writes"), join(directory, "process")];
    const isAnswered = Promise.withResolvers<void>();
    const told = await listen(process, () => isAnswered.promise);
    const service = await passOnWrites(path, () => [process]);
    onTestFinished(() => service.close());

    const writes = [write(path, "/all")];
    await expect.poll(() => told).toEqual(["/all"]);
    writes.push(write(path, "/all"), write(path, "/all"), write(path, "/quiet"));
    await expect.poll(() => told).toEqual(["/all", "/quiet"]);
    await pause(50);
    isAnswered.resolve();
    await Promise.all(writes);

    expect(told).toEqual(["/all", "/quiet", "/all"]);
  });
});
