import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { takeLock } from "../../../scripts/serve/lock.ts";
import { markOf } from "../../../scripts/serve/process.ts";
import { makeDirectory } from "../support/temporary.ts";

const gone = { pid: process.pid, started: "at another time" };

function writeLock(data: string, holder: object | string): void {
  const text = typeof holder === "string" ? holder : JSON.stringify(holder);
  writeFileSync(join(data, "lock"), text);
}

describe("takeLock", () => {
  it("makes the directory, holds it, and leaves nothing when released", () => {
    const data = join(makeDirectory(), "new");

    const lock = takeLock(data);
    expect(() => takeLock(data)).toThrow(`already running on ${data} (process ${process.pid})`);
    lock.release();

    expect(readdirSync(data)).toEqual([]);
  });

  // In a container that starts again, the number of the old process belongs to a new one: often to us.
  it("takes over from a process whose number has been given to another", () => {
    const data = makeDirectory();
    writeLock(data, { service: gone });

    takeLock(data);

    expect(readFileSync(join(data, "lock"), "utf8")).toContain(`"pid":${process.pid}`);
    expect(readdirSync(data)).toEqual(["lock"]);
  });

  it("takes over a lock that a full disk left empty", () => {
    const data = makeDirectory();
    writeLock(data, "");

    expect(() => takeLock(data)).not.toThrow();
  });

  it("refuses while the runtime of a service that was killed still runs", () => {
    const runtime = spawn("sleep", ["60"]);
    onTestFinished(() => void runtime.kill());
    const data = makeDirectory();
    writeLock(data, { service: gone, runtime: markOf(runtime.pid ?? 0) });

    expect(() => takeLock(data)).toThrow(`kill ${runtime.pid}`);
    expect(existsSync(join(data, "lock"))).toBe(true);
  });

  it("notes the runtime, for the start after a kill", () => {
    const data = makeDirectory();
    const lock = takeLock(data);

    lock.setRuntime(process.pid);

    const noted: unknown = JSON.parse(readFileSync(join(data, "lock"), "utf8"));
    expect(noted).toMatchObject({ service: markOf(process.pid), runtime: markOf(process.pid) });
  });
});
