import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { inProject } from "../project.ts";
import { migrate } from "../serve/migrate.ts";
import { readWranglerToml } from "../tools/wrangler-toml.ts";

/**
 * Applies the pending migrations to the database of `wrangler dev`, which may run.
 *
 * @param wrangler The process id of wrangler, whose arguments may name another directory for its
 *   state.
 * @returns What was done, in lines for people.
 */
export async function migrateState(wrangler: string | undefined): Promise<string[]> {
  const state = join(stateDirectory(wrangler), "v3");
  const schema = readdirSync(inProject("migrations")).toSorted().join(" ");
  // Beside the databases, to be removed with them. Without it, each rebuild takes a second more.
  const stamp = join(state, "d1", "schema");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === schema) return [];

  const applied = await applyTo(state);
  writeFileSync(stamp, schema);
  return applied.length > 0 ? [`applied migrations: ${applied.join(", ")}`] : [];
}

async function applyTo(state: string): Promise<string[]> {
  const [{ Miniflare }, { miniflareOptions }] = await Promise.all([
    import("miniflare"),
    import("../build/miniflare.ts"),
  ]);
  const { d1Databases } = readWranglerToml().miniflare;
  const worker = { name: "migrations", modules: true, script: "export default {}", d1Databases };
  const mf = new Miniflare(miniflareOptions(state, [worker], () => {}));
  try {
    return await migrate(await mf.getD1Database("DB"), inProject("migrations"));
  } finally {
    await mf.dispose();
  }
}

/** Wrangler's directory for its state; a relative path begins where Wrangler was started. */
function stateDirectory(wrangler: string | undefined): string {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: wrangler === undefined ? [] : argumentsOf(wrangler),
    strict: false,
    options: { "persist-to": text, persistTo: text },
  });
  const given = values["persist-to"] ?? values["persistTo"];
  if (typeof given !== "string") return inProject(".wrangler/state");
  return resolve(process.env["INIT_CWD"] ?? ".", given);
}

/** The arguments of a process. Only where the system has no /proc, one with a space is several. */
function argumentsOf(pid: string): string[] {
  const file = `/proc/${pid}/cmdline`;
  return existsSync(file)
    ? readFileSync(file, "utf8").split("\0")
    : execFileSync("ps", ["-ww", "-o", "args=", "-p", pid], { encoding: "utf8" }).split(/\s+/);
}
