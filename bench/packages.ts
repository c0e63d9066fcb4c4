/**
 * `npm run bench:packages`: response times and D1 usage of registries of packages, beside those of
 * other registries.
 *
 * Runs the service of `npm start` and, for each format, a registry of the field, each with its
 * state in a temporary directory. bench/README.md explains the numbers.
 */
import { join } from "node:path";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { openJournal, type Journal } from "./api/usage.ts";
import * as cargo from "./packages/cargo.ts";
import * as container from "./packages/container.ts";
import * as npm from "./packages/npm.ts";
import { type Format, parseOptions } from "./packages/options.ts";
import * as pypi from "./packages/pypi.ts";
import type { Registry } from "./packages/registry.ts";
import { describeMachine } from "./support/machine.ts";
import { type Resources, withResources } from "./support/resources.ts";
import { openService } from "./support/service.ts";

const ADMINISTRATOR = {
  name: "root",
  password: "correct horse battery",
  email: "root@example.com",
};

const BENCHES = { npm, pypi, cargo, container };

await withResources(bench);

async function bench(resources: Resources): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await buildAssets();
  await buildWorker();

  const { directory, track, release } = resources;
  const journal = openJournal();
  const openOwn = await startOwn(resources, journal);
  for (const format of options.formats) {
    const { openPeer, bench: benchFormat } = BENCHES[format];
    const own = openOwn(format);
    const opened = await openPeer(directory);
    const other = opened && (await track(opened));
    if (!other) console.log(`${format}: there is no other registry to compare with`);
    const registries = other ? [own, other] : [own];
    const from = performance.now();
    const tables = await benchFormat(directory, registries, journal, options);
    const seconds = ((performance.now() - from) / 1000).toFixed(0);
    console.log(`\n${format}, after ${seconds} s\n\n${tables.join("\n\n")}\n`);
    // It takes no memory and time from what is measured next.
    if (other) await release(other);
  }
}

/** Starts the service. @returns The registry of a format of it. */
async function startOwn(
  { directory, track }: Resources,
  journal: Journal,
): Promise<(format: Format) => Registry> {
  const service = await track(
    openService(join(directory, "data"), {
      vars: { LOG_D1_ROWS: "true" },
      onLog: journal.note,
      administrator: ADMINISTRATOR,
    }),
  );
  const { name, password } = ADMINISTRATOR;
  const answer = await fetch(new URL(`/api/v1/users/${name}/tokens`, service.origin), {
    method: "POST",
    headers: {
      authorization: `Basic ${btoa(`${name}:${password}`)}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ name: "bench", scopes: ["write:package"] }),
  });
  const { sha1: token } = (await answer.json()) as { sha1: string };
  const pathOf = (format: Format): string =>
    format === "container" ? `/v2/${name}/` : `/api/packages/${name}/${format}/`;
  return (format) => ({ ...service, name: "Edgeforge", path: pathOf(format), token });
}
