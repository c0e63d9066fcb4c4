import { createHash } from "node:crypto";

import { formatBase64 } from "../../../src/lib/base64.ts";
import { visit, type Answer } from "../../support/call.ts";
import { makeTarGz, type MadeEntry } from "../../support/archives.ts";
import type { TestUser } from "../../support/make.ts";

/** What a publication has, besides what follows from name and version. */
export interface PublicationFields {
  /** Fields of `package.json`. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly tag?: string;
  /** Further files of the tarball. */
  readonly files?: readonly MadeEntry[];
  /** The tarball, in place of a proper one. */
  readonly tarball?: Uint8Array;
  /** Fields of the document, in place of proper ones. */
  readonly document?: Readonly<Record<string, unknown>>;
  readonly dist?: Readonly<Record<string, unknown>>;
}

export const makePackageTarball = (
  name: string,
  version: string,
  { manifest = {}, files = [] }: PublicationFields = {},
): Promise<Uint8Array> =>
  makeTarGz([
    { path: "package/package.json", content: JSON.stringify({ ...manifest, name, version }) },
    { path: "package/index.js", content: "module.exports = 1;\n" },
    ...files,
  ]);

/** A document as npm's client sends it. */
export async function makePublication(
  name: string,
  version: string,
  fields: PublicationFields = {},
): Promise<Record<string, unknown>> {
  const { manifest = {}, tag = "latest", dist = {} } = fields;
  const tarball = fields.tarball ?? (await makePackageTarball(name, version, fields));
  const digest = (algorithm: string) => createHash(algorithm).update(tarball);
  return {
    _id: name,
    name,
    "dist-tags": { [tag]: version },
    versions: {
      [version]: {
        ...manifest,
        _id: `${name}@${version}`,
        name,
        version,
        dist: {
          integrity: `sha512-${digest("sha512").digest("base64")}`,
          shasum: digest("sha1").digest("hex"),
          tarball: `http://elsewhere.example/${name}/-/${name}-${version}.tgz`,
          ...dist,
        },
      },
    },
    _attachments: {
      [`${name}-${version}.tgz`]: {
        content_type: "application/octet-stream",
        data: formatBase64(tarball),
        length: tarball.length,
      },
    },
    ...fields.document,
  };
}

export const registryPath = (owner: Pick<TestUser, "name">, path = ""): string =>
  `/api/packages/${owner.name}/npm/${path}`;

/** Publishes a version as the owner. */
export const publish = async (
  owner: TestUser,
  name: string,
  version: string,
  fields?: PublicationFields,
): Promise<Answer> =>
  visit("PUT", registryPath(owner, name.replace("/", "%2f")), {
    as: owner,
    json: await makePublication(name, version, fields),
  });
