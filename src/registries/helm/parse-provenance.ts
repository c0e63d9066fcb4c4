import { z } from "zod";

import { malformed } from "../../lib/failure.ts";
import { parseYaml, YamlTooLong } from "../../lib/yaml.ts";
import { type ChartKey, chartFileName, requireChartKey } from "./names.ts";

/** Maximum bytes of a provenance file: it has a `Chart.yaml`. */
export const PROVENANCE_BYTES_MAX = 512 * 1024;

const Metadata = z.object({ name: z.string(), version: z.string() });
const Digests = z.object({ files: z.record(z.string(), z.string()) });

/** The content of a provenance file, unverified: clients verify its signature. */
export interface Provenance extends ChartKey {
  /** The SHA-256 of the archive, in hex. */
  readonly sha256: string;
}

/**
 * Reads a provenance file: a clear-signed message of two documents of YAML, the `Chart.yaml` and
 * the digests of files.
 *
 * @throws Failure `malformed`
 * @see helm.sh/docs/topics/provenance, "The Provenance File"; RFC 9580, section 7.
 */
export async function parseProvenance(bytes: Uint8Array): Promise<Provenance> {
  const text = new TextDecoder().decode(bytes).replaceAll("\r\n", "\n");
  const [, signed] =
    /^-----BEGIN PGP SIGNED MESSAGE-----\n(?:[^\n]+\n)*\n([^]*?)\n-----BEGIN PGP SIGNATURE-----\n[^]*-----END PGP SIGNATURE-----\s*$/.exec(
      text,
    ) ?? [];
  if (signed === undefined) throw malformed("the provenance is not a clear-signed message");
  const [chart, digests] = await parseDocuments(signed.replaceAll(/^- /gm, ""));
  const key = Metadata.safeParse(chart).data;
  const files = Digests.safeParse(digests).data?.files ?? {};
  if (!key) throw malformed("the provenance has no Chart.yaml");
  const { name, version } = requireChartKey(key);
  const [, sha256] = /^sha256:([0-9a-f]{64})$/.exec(files[chartFileName(key)] ?? "") ?? [];
  if (sha256 === undefined) throw malformed("the provenance has no digest of the chart");
  return { name, version, sha256 };
}

async function parseDocuments(text: string): Promise<unknown[]> {
  // Helm ends the first document by a line of three dots.
  const documents = await parseYaml(text, "core").catch((error: unknown) => {
    throw error instanceof YamlTooLong ? malformed("the provenance is too long") : error;
  });
  return documents.map((document) => {
    if (document.errors.length > 0) throw malformed("the provenance is no YAML");
    return document.toJS({ maxAliasCount: 10 }) as unknown;
  });
}
