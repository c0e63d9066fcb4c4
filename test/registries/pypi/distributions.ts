import { createHash } from "node:crypto";

import { makeTarGz, makeZip, type MadeEntry } from "../../support/archives.ts";
import { visit } from "../../support/call.ts";
import type { TestUser } from "../../support/make.ts";

/** A distribution to upload. */
export interface MadeDistribution {
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly bytes: Uint8Array;
}

/** The core metadata of a distribution. */
export const metadataOf = (name: string, version: string, more = ""): string =>
  `Metadata-Version: 2.2\nName: ${name}\nVersion: ${version}\n${more}\nHello.\n`;

/** A wheel. `entries` come in the place of those with the same path. */
export function makeWheel(
  name: string,
  version: string,
  { more = "", entries = [] }: { more?: string; entries?: readonly MadeEntry[] } = {},
): MadeDistribution {
  const stem = `${name.replaceAll(/[-_.]+/g, "_")}-${version}`;
  const info = `${stem}.dist-info`;
  const own = [
    { path: `${name}.py`, content: "value = 1\n" },
    { path: `${info}/METADATA`, content: metadataOf(name, version, more) },
    { path: `${info}/WHEEL`, content: "Wheel-Version: 1.0\n" },
    { path: `${info}/RECORD`, content: "" },
  ];
  const kept = own.filter(({ path }) => entries.every((each) => each.path !== path));
  const bytes = makeZip([...kept, ...entries]);
  return { name, version, filename: `${stem}-py3-none-any.whl`, bytes };
}

/** A source distribution. */
export async function makeSdist(
  name: string,
  version: string,
  { metadata = metadataOf(name, version), entries = [] as readonly MadeEntry[] } = {},
): Promise<MadeDistribution> {
  const stem = `${name}-${version}`;
  const own = metadata === "" ? [] : [{ path: `${stem}/PKG-INFO`, content: metadata }];
  const bytes = await makeTarGz([...own, { path: `${stem}/setup.py` }, ...entries]);
  return { name, version, filename: `${stem}.tar.gz`, bytes };
}

/** The form that twine sends. A field that is undefined is left out. */
export function formOf(
  { name, version, filename, bytes }: MadeDistribution,
  more: Readonly<Record<string, string | undefined>> = {},
): FormData {
  const form = new FormData();
  const fields = {
    ":action": "file_upload",
    protocol_version: "1",
    name,
    version,
    sha256_digest: createHash("sha256").update(bytes).digest("hex"),
    ...more,
  };
  for (const [field, value] of Object.entries(fields)) {
    if (value !== undefined) form.append(field, value);
  }
  form.append("content", new File([bytes.slice()], filename));
  return form;
}

/** Uploads a distribution. */
export const upload = (
  owner: Pick<TestUser, "name" | "token">,
  made: MadeDistribution,
  more: Readonly<Record<string, string | undefined>> = {},
) => visit("POST", `/api/packages/${owner.name}/pypi/`, { as: owner, body: formOf(made, more) });
