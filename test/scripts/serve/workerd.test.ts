import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, afterEach, describe, expect, it } from "vitest";

import { watchWorkerd } from "../../../scripts/serve/workerd.ts";

const directory = mkdtempSync(join(tmpdir(), "workerd-"));
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Starts a program in the place of workerd. @returns What it writes, in the pieces in which it is read. */
async function outputOf(script: string): Promise<string[]> {
  const program = join(directory, "workerd");
  writeFileSync(program, `#!${process.execPath}\n${script}`);
  chmodSync(program, 0o755);
  stops.push(watchWorkerd(() => {}).stop);
  const child = spawn(program, { stdio: ["ignore", "pipe", "inherit"] });
  const pieces: string[] = [];
  child.stdout.on("data", (piece: Buffer) => pieces.push(piece.toString()));
  await once(child, "close");
  return pieces;
}

describe("the log of workerd", () => {
  // A line for each request would wake this process for each request.
  it("is read in pieces of several lines, and none of them is lost at the end", async () => {
    const pieces = await outputOf(`
      const { writeSync } = require("node:fs");
      let line = 0;
      const timer = setInterval(() => {
        writeSync(1, line + "\\n");
        if (++line === 100) process.kill(process.pid, "SIGKILL");
      }, 2);`);
    expect(pieces.join("").trim().split("\n").map(Number)).toEqual(
      Array.from({ length: 100 }, (_, line) => line),
    );
    expect(pieces.length).toBeLessThan(50);
  });

  it("is read to its end when more is written at once than the pipe holds", async () => {
    const pieces = await outputOf(`process.stdout.write("x".repeat(5_000_000));`);
    expect(pieces.join("")).toHaveLength(5_000_000);
  });
});
