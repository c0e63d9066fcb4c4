import { gzipSync } from "node:zlib";

import { packTar } from "modern-tar";

import type { Journal } from "../api/usage.ts";
import { measure } from "./measure.ts";
import type { Options } from "./options.ts";
import { addressOf, authorizationOf, type Registry } from "./registry.ts";

const CRATE = "large";

/** There is no other registry of crates that is built in reasonable time. */
export const openPeer = async (): Promise<Registry | undefined> => undefined;

/** Measures the sparse index of cargo. @returns Tables. */
export async function bench(
  _directory: string,
  registries: readonly Registry[],
  journal: Journal,
  { versions, seconds }: Options,
): Promise<string[]> {
  for (const registry of registries) {
    for (let patch = 0; patch < versions; patch++) {
      await publish(registry, CRATE, `1.0.${patch}`);
    }
    await publish(registry, "small", "1.0.0");
  }
  const rates = await measure(
    {
      registries,
      casesOf: ({ path }) => {
        const get = (name: string, below: string) => ({
          name,
          status: 200,
          next: () => ({ method: "GET", path: path + below }),
        });
        return [
          get("sparse index, one line", "sm/al/small"),
          get(`sparse index, ${versions} lines`, "la/rg/large"),
          get("crate", `api/v1/crates/${CRATE}/1.0.0/download`),
        ];
      },
      publicationOf: async (registry, at) => ({
        method: "PUT",
        path: `${registry.path}api/v1/crates/new`,
        headers: { "content-type": "application/octet-stream", ...authorizationOf(registry) },
        body: await makePublication(`new-${at}`, "1.0.0"),
        status: 200,
      }),
    },
    journal,
    seconds,
  );
  return [rates];
}

async function publish(registry: Registry, name: string, version: string): Promise<void> {
  const answer = await fetch(new URL("api/v1/crates/new", addressOf(registry)), {
    method: "PUT",
    headers: authorizationOf(registry),
    body: await makePublication(name, version),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${registry.name} answered ${answer.status}: ${text}`);
}

/** The body that `cargo publish` sends: JSON and the crate, each after its length. */
async function makePublication(name: string, version: string): Promise<Uint8Array<ArrayBuffer>> {
  const folder = `${name}-${version}`;
  const files = {
    "Cargo.toml": `[package]\nname = "${name}"\nversion = "${version}"\n`,
    "src/lib.rs": "pub fn one() -> u8 { 1 }\n",
  };
  const tar = await packTar(
    Object.entries(files).map(([path, body]) => ({
      header: { name: `${folder}/${path}`, size: body.length },
      body,
    })),
  );
  const dependency = {
    name: "serde",
    version_req: "^1.0",
    features: ["derive"],
    optional: false,
    default_features: true,
    target: null,
    kind: "normal",
  };
  const metadata = { name, vers: version, deps: [dependency], features: {}, license: "MIT" };
  const parts = [new TextEncoder().encode(JSON.stringify(metadata)), gzipSync(tar)];
  return new Uint8Array(
    Buffer.concat(
      parts.flatMap((part) => [new Uint8Array(Uint32Array.of(part.length).buffer), part]),
    ),
  );
}
