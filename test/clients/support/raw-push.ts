import { execFileSync } from "node:child_process";

import { admin, type Repo } from "./forge.ts";
import { ENVIRONMENT } from "./git.ts";

/** A pack of the objects reachable from `revisions`, or of single objects. */
export function packOf(
  directory: string,
  names: readonly string[],
  options: readonly string[] = ["--revs"],
): Uint8Array {
  return execFileSync("git", ["pack-objects", ...options, "--stdout", "--quiet"], {
    cwd: directory,
    env: ENVIRONMENT,
    input: names.map((name) => `${name}\n`).join(""),
  });
}

/** Pushes unchecked bytes to a new ref, as no honest client would, and returns the report. */
export async function sendPack(
  repo: Repo,
  oid: string,
  pack: Uint8Array,
  ref = "refs/heads/main",
): Promise<string> {
  const line = `${"0".repeat(40)} ${oid} ${ref}\0report-status`;
  const length = (line.length + 4).toString(16).padStart(4, "0");
  const response = await fetch(`${repo.url}/git-receive-pack`, {
    method: "POST",
    headers: {
      Authorization: `Basic ${btoa(`${admin.name}:${admin.password}`)}`,
      "Content-Type": "application/x-git-receive-pack-request",
    },
    body: Buffer.concat([Buffer.from(`${length}${line}0000`), pack]),
  });
  return response.text();
}
