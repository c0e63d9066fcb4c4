import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

import { type MadeEntry, makeTar, makeTarGz } from "./archives.ts";

/** What a gem has besides its defaults. */
interface GemOptions {
  readonly platform?: string;
  /** Lines of the specification, in place of those of a gem without dependencies. */
  readonly more?: string;
  /** The specification. */
  readonly specification?: string | Uint8Array;
  /** The digests that it states. */
  readonly checksums?: string;
  /** Further entries, or others in the place of those of the same path. */
  readonly entries?: readonly MadeEntry[];
}

/** The specification of a gem, as `gem build` writes it. */
export const gemspecOf = (name: string, version: string, platform: string, more: string): string =>
  `--- !ruby/object:Gem::Specification
name: ${name}
version: !ruby/object:Gem::Version
  version: ${version}
platform: ${platform}
authors:
- A U Thor
date: 2024-02-29 00:00:00.000000000 Z
description: Says hello
email:
- a@example.com
homepage: https://example.com
licenses:
- MIT
metadata:
  source_code_uri: https://example.com/source
summary: Hello
specification_version: 4
rubygems_version: 3.4.20
${more}`;

/** A dependency in a specification. */
export const dependencyLines = (name: string, type: string, ...requirements: string[]): string =>
  `- !ruby/object:Gem::Dependency
  name: ${name}
  requirement: !ruby/object:Gem::Requirement
    requirements:
${requirements
  .map((each) => each.split(" "))
  .map(
    ([operator, version]) =>
      `    - - "${operator}"\n      - !ruby/object:Gem::Version\n        version: '${version}'`,
  )
  .join("\n")}
  type: :${type}
  prerelease: false
`;

/** Makes a gem. */
export async function makeGem(
  name: string,
  version: string,
  { platform = "ruby", more = "dependencies: []\n", ...options }: GemOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const text = options.specification ?? gemspecOf(name, version, platform, more);
  const specification = new Uint8Array(gzipSync(text));
  const content = await makeTarGz([{ path: `lib/${name}.rb`, content: `puts "${name}"` }]);
  const hex = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  const checksums =
    options.checksums ??
    `---\nSHA256:\n  metadata.gz: ${hex(specification)}\n  data.tar.gz: ${hex(content)}\n`;
  const { entries = [] } = options;
  const standard = [
    { path: "metadata.gz", content: specification },
    { path: "data.tar.gz", content },
    { path: "checksums.yaml.gz", content: new Uint8Array(gzipSync(checksums)) },
  ];
  const replaced = new Set(entries.map(({ path }) => path));
  const tar = await makeTar([...standard.filter(({ path }) => !replaced.has(path)), ...entries]);
  return tar.slice();
}
