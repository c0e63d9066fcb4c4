import { createHash } from "node:crypto";

import { makeTarGz, type MadeEntry } from "../../support/archives.ts";

/** The archive of a chart. @param fields Lines of its `Chart.yaml`. */
export const makeChart = (
  name: string,
  version: string,
  fields: readonly string[] = [],
  files: readonly MadeEntry[] = [],
): Promise<Uint8Array<ArrayBuffer>> =>
  makeTarGz([
    {
      path: `${name}/Chart.yaml`,
      content: ["apiVersion: v2", `name: ${name}`, `version: ${version}`, ...fields, ""].join("\n"),
    },
    { path: `${name}/values.yaml`, content: "replicas: 1\n" },
    ...files,
  ]);

/** The provenance of an archive, with a signature that is none. */
export function makeProvenance(name: string, version: string, archive: Uint8Array): string {
  const digest = createHash("sha256").update(archive).digest("hex");
  return [
    "-----BEGIN PGP SIGNED MESSAGE-----",
    "Hash: SHA512",
    "",
    "apiVersion: v2",
    `name: ${name}`,
    `version: ${version}`,
    "keywords:",
    "- - escaped",
    "",
    "...",
    "files:",
    `  ${name}-${version}.tgz: sha256:${digest}`,
    "-----BEGIN PGP SIGNATURE-----",
    "",
    "wsBzBAEBCgAnBQJ",
    "-----END PGP SIGNATURE-----",
    "",
  ].join("\n");
}
