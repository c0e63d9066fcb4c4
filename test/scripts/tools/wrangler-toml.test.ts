import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";

import { inProject } from "../../../scripts/project.ts";
import { readWranglerToml } from "../../../scripts/tools/wrangler-toml.ts";
import { makeDirectory } from "../support/temporary.ts";

const text = readFileSync(inProject("wrangler.toml"), "utf8");

/** wrangler.toml with the tables that are comments, and with options that it does not set. */
const complete = text
  .replaceAll(/^# (\[\[[a-z_.]+\]\]|[a-z_]+ = ".*")$/gm, "$1")
  .replace(/^max_batch_size = 5$/m, '$&\ndead_letter_queue = "dead"\nmax_concurrency = 2')
  .replace(
    /^\[vars\]$/m,
    '[[kv_namespaces]]\nbinding = "CACHE"\n\n$&\nAPP_NAME = "Mine"\nDAYS = 3',
  );

/** What Wrangler reads, without empty and absent values. */
function readByWrangler(config: string): { bindings: unknown; others: object } {
  const {
    modulesRules: _,
    bindings,
    ...others
  } = unstable_getMiniflareWorkerOptions(unstable_readConfig({ config })).workerOptions;
  return { bindings, others: withoutEmpty(others) };
}

const withoutEmpty = (options: object): object =>
  Object.fromEntries(
    Object.entries(options).filter(
      ([, value]) => value !== undefined && Object.values(value as object).flat().length > 0,
    ),
  );

describe("wrangler.toml", () => {
  it.each([
    ["as it is", text],
    ["with all that may be added", complete],
  ])("%s has the bindings that Wrangler reads", (_, content) => {
    const path = join(makeDirectory({ "wrangler.toml": content }), "wrangler.toml");
    const { bindings, others } = readByWrangler(path);
    const { vars, miniflare } = readWranglerToml(path);

    expect(withoutEmpty(miniflare)).toEqual(others);
    expect(vars).toEqual(bindings ?? {});
  });

  it("is complete in the second case", () => {
    expect(complete).toMatch(/^binding = "EVENTS_OUT"$/m);
    expect(complete).toMatch(/^name = "MAIL"$/m);
  });

  it("gives way to .dev.vars, as with Wrangler", () => {
    const devVars = `# a comment\nexport A=1\nAPP_NAME='The "best"' # and another\nB="x\\ny$A"\nC=  \n`;
    const files = { "wrangler.toml": complete, ".dev.vars": devVars };
    const path = join(makeDirectory(files), "wrangler.toml");

    expect(readWranglerToml(path).vars).toEqual(readByWrangler(path).bindings);
  });

  it.each([
    ["name = \n", /^wrangler\.toml cannot be read: Invalid TOML/],
    [text.replace("max_retries", "max_retry"), /max_retry[^]*queues\.consumers\[0\]/],
  ])("is refused with the place of the mistake", (content, message) => {
    const path = join(makeDirectory({ "wrangler.toml": content }), "wrangler.toml");

    expect(() => readWranglerToml(path)).toThrow(message);
  });
});
