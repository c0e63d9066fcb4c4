import { spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { takeLock } from "../../../scripts/serve/lock.ts";
import { identityOf } from "../../../scripts/serve/process.ts";
import { makeDirectory } from "../support/temporary.ts";

const endedProcess = { pid: process.pid, started: "at another time" };

function writeLock(data: string, holder: object | string): void {
  const text = typeof holder === "string" ? holder : JSON.stringify(holder);
  writeFileSync(join(data, "lock"), text);
}

describe("takeLock", () => {
  it("creates the directory, locks it, and leaves no file when released", async () => {
    const data = join(makeDirectory(), "new");

    const lock = await takeLock(data);
    await expect(takeLock(data)).rejects.toThrow(
      `already running on ${data} (process ${process.pid})`,
    );
    lock.release();

    expect(readdirSync(data)).toEqual([]);
  });

  // SECURITY: the directory holds private repositories and the key of all secrets.
  it("makes the directory accessible for its owner only, whether it exists or not", async () => {
    const modeOf = (path: string) => statSync(path).mode & 0o777;
    const created = join(makeDirectory(), "new");
    const open = makeDirectory();
    chmodSync(open, 0o755);

    await takeLock(created);
    await takeLock(open);

    expect([modeOf(created), modeOf(open)]).toEqual([0o700, 0o700]);
  });

  // In a restarted container, the id of the old process belongs to a new one, often to this one.
  it("takes over from a process whose id now belongs to another process", async () => {
    const data = makeDirectory();
    writeLock(data, { service: endedProcess });

    await takeLock(data);

    expect(readFileSync(join(data, "lock"), "utf8")).toContain(`"pid":${process.pid}`);
    expect(readdirSync(data)).toEqual(["lock"]);
  });

  it("takes over a lock that is empty because of a full disk", async () => {
    const data = makeDirectory();
    writeLock(data, "");

    await expect(takeLock(data)).resolves.toBeDefined();
  });

  it("refuses while the runtime of a killed service does not end", async () => {
    const runtime = spawn("sleep", ["60"]);
    onTestFinished(() => void runtime.kill());
    const data = makeDirectory();
    writeLock(data, { service: endedProcess, runtime: identityOf(runtime.pid ?? 0) });

    await expect(takeLock(data, 0)).rejects.toThrow(`kill ${runtime.pid}`);
    expect(existsSync(join(data, "lock"))).toBe(true);
  });

  it("waits for the runtime of a killed service, which ends by itself", async () => {
    const runtime = spawn("sleep", ["60"]);
    const data = makeDirectory();
    writeLock(data, { service: endedProcess, runtime: identityOf(runtime.pid ?? 0) });

    const lock = takeLock(data);
    runtime.kill();

    await expect(lock).resolves.toBeDefined();
  });

  it("records the runtime, for the start after a kill", async () => {
    const data = makeDirectory();
    const lock = await takeLock(data);

    lock.setRuntime(process.pid);

    const recorded: unknown = JSON.parse(readFileSync(join(data, "lock"), "utf8"));
    expect(recorded).toMatchObject({
      service: identityOf(process.pid),
      runtime: identityOf(process.pid),
    });
  });
});
