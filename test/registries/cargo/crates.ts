import { makeTarGz, type MadeEntry } from "../../support/archives.ts";
import { visit } from "../../support/call.ts";
import type { TestUser } from "../../support/make.ts";

/** A crate to publish. */
export interface MadeCrate {
  readonly json: object | string;
  readonly bytes: Uint8Array;
}

/** A crate. `more` are further fields of its JSON; `entries` further entries of the archive. */
export async function makeCrate(
  name: string,
  version: string,
  { more = {}, entries = [] as readonly MadeEntry[], folder = `${name}-${version}` } = {},
): Promise<MadeCrate> {
  const bytes = await makeTarGz([
    {
      path: `${folder}/Cargo.toml`,
      content: `[package]\nname = "${name}"\nversion = "${version}"\n`,
    },
    { path: `${folder}/src/lib.rs`, content: "pub fn one() -> u8 { 1 }\n" },
    ...entries,
  ]);
  return { json: { name, vers: version, deps: [], features: {}, ...more }, bytes };
}

/** The body of a publish request. */
export function frame({ json, bytes }: MadeCrate): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(typeof json === "string" ? json : JSON.stringify(json));
  const body = new Uint8Array(8 + text.length + bytes.length);
  const view = new DataView(body.buffer);
  view.setUint32(0, text.length, true);
  body.set(text, 4);
  view.setUint32(4 + text.length, bytes.length, true);
  body.set(bytes, 8 + text.length);
  return body;
}

export const publishBody = (
  owner: Pick<TestUser, "name" | "token">,
  body: Uint8Array<ArrayBuffer>,
) => visit("PUT", `/api/packages/${owner.name}/cargo/api/v1/crates/new`, { as: owner, body });

/** Publishes a crate. */
export const publish = (owner: Pick<TestUser, "name" | "token">, crate: MadeCrate) =>
  publishBody(owner, frame(crate));
