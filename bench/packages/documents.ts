import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

import { packTar } from "modern-tar";

/**
 * Bytes of the file in each package besides `package.json`: random, so that nothing is compressed
 * away.
 */
const FILE_BYTES = 8 * 1024;

/** The document that publishes a version, as npm's client sends it. In ASCII. */
export async function makeDocument(
  name: string,
  version: string,
  dependencies: Readonly<Record<string, string>> = {},
): Promise<string> {
  const manifest = {
    name,
    version,
    description: `The package ${name}, with some text as packages have it.`,
    main: "index.js",
    license: "MIT",
    author: { name: "A U Thor", email: "author@example.org" },
    repository: { type: "git", url: `git+https://forge.example/owner/${name}.git` },
    keywords: ["bench", "package", name],
    scripts: { test: "node --test", build: "node build.js" },
    engines: { node: ">=20" },
    dependencies,
  };
  const data = crypto.getRandomValues(new Uint8Array(FILE_BYTES));
  const text = Buffer.from(JSON.stringify(manifest));
  const tar = await packTar([
    { header: { name: "package/package.json", size: text.length }, body: text },
    { header: { name: "package/index.bin", size: data.length }, body: data },
  ]);
  const tarball = gzipSync(tar);
  const digest = (algorithm: string) => createHash(algorithm).update(tarball);
  const file = `${name}-${version}.tgz`;
  return JSON.stringify({
    _id: name,
    name,
    "dist-tags": { latest: version },
    versions: {
      [version]: {
        ...manifest,
        _id: `${name}@${version}`,
        dist: {
          integrity: `sha512-${digest("sha512").digest("base64")}`,
          shasum: digest("sha1").digest("hex"),
          tarball: `http://localhost/${name}/-/${file}`,
        },
      },
    },
    _attachments: {
      [file]: {
        content_type: "application/octet-stream",
        data: tarball.toString("base64"),
        length: tarball.length,
      },
    },
  });
}
