import { join } from "node:path";

import type { Case } from "../api/cases.ts";
import type { Journal } from "../api/usage.ts";
import { formatInteger } from "../support/table.ts";
import { makeDocument } from "./documents.ts";
import { install } from "./install.ts";
import { measure, measureByTurns } from "./measure.ts";
import type { Options } from "./options.ts";
import { addressOf, authorizationOf, forEachAtOnce, type Registry } from "./registry.ts";
import { openVerdaccio } from "./verdaccio.ts";

const LARGE = "large";
const MANY = "many";
/** Requests at once while packages are loaded. */
const LOADING = 8;
const INSTALLATIONS = 3;
const ABBREVIATED = "application/vnd.npm.install-v1+json";

export const openPeer = (directory: string): Promise<Registry | undefined> =>
  openVerdaccio(join(directory, "verdaccio"));

/** Measures packages of npm. @returns Tables. */
export async function bench(
  directory: string,
  registries: readonly Registry[],
  journal: Journal,
  options: Options,
): Promise<string[]> {
  for (const registry of registries) await load(registry, options);
  const rates = await measure(
    {
      registries,
      casesOf: (registry) => casesOf(registry, options),
      publicationOf: async ({ path, token }, at) => ({
        method: "PUT",
        path: `${path}new-${at}`,
        ...(token !== undefined && { token }),
        body: await makeDocument(`new-${at}`, "1.0.0"),
        status: 201,
      }),
    },
    journal,
    options.seconds,
  );
  const name = `npm install of ${formatInteger(options.packages)} packages`;
  const run = (registry: Registry) => install(directory, registry, MANY);
  return [rates, await measureByTurns(name, registries, INSTALLATIONS, run)];
}

/**
 * Publishes a package of many versions, and many packages, with one that depends on all of these.
 */
async function load(registry: Registry, { versions, packages }: Options): Promise<void> {
  for (let patch = 0; patch < versions; patch++) await publish(registry, LARGE, `1.0.${patch}`);
  const names = Array.from({ length: packages }, (_, at) => `package-${at}`);
  await forEachAtOnce(names, LOADING, (name) => publish(registry, name, "1.0.0"));
  await publish(registry, MANY, "1.0.0", Object.fromEntries(names.map((name) => [name, "^1.0.0"])));
}

async function publish(
  registry: Registry,
  name: string,
  version: string,
  dependencies: Readonly<Record<string, string>> = {},
): Promise<void> {
  const answer = await fetch(new URL(name, addressOf(registry)), {
    method: "PUT",
    headers: { "content-type": "application/json", ...authorizationOf(registry) },
    body: await makeDocument(name, version, dependencies),
  });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`${registry.name} answered ${answer.status}: ${text}`);
}

function casesOf({ path }: Registry, { packages }: Options): Case[] {
  const get = (name: string, below: () => string, accept = "application/json"): Case => ({
    name,
    status: 200,
    next: () => ({ method: "GET", path: path + below(), headers: { accept } }),
  });
  let at = 0;
  return [
    get("document of the large package", () => LARGE),
    get("the same, for installing", () => LARGE, ABBREVIATED),
    get("document of a small package", () => "package-0", ABBREVIATED),
    get("documents of all small packages", () => `package-${at++ % packages}`, ABBREVIATED),
    get("tarball", () => "package-0/-/package-0-1.0.0.tgz"),
  ];
}
