import { sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { isViolation, onlyWhile } from "../../db/db.ts";
import { packages, packageVersions } from "../../db/schema/index.ts";
import { findPackage, type PackageOwner } from "../../domain/packages/package/find-package.ts";
import { findVersion } from "../../domain/packages/package/find-version.ts";
import {
  publishedVersionId,
  publishVersion,
  type PublishedFile,
} from "../../domain/packages/package/publish-version.ts";
import {
  receiveBlob,
  storeBlob,
  withBlobs,
  type ReceivedBlob,
} from "../../domain/packages/package/receive-blob.ts";
import { conflict, malformed, notFound } from "../../lib/failure.ts";
import { inspectPieces } from "../../lib/inspect-pieces.ts";
import { readOneFolder } from "../archives/one-folder.ts";
import { streamTarGz } from "../archives/stream-tar-gz.ts";
import { chartsOfFile, chartFileName, type ChartKey } from "./names.ts";
import { CHART_YAML_BYTES_MAX, parseChart, type Chart } from "./parse-chart.ts";
import { parseProvenance } from "./parse-provenance.ts";

/** The metadata of a version of a chart. */
export interface ChartMetadata {
  readonly chart: Chart;
  /** The SHA-256 of the archive, in hex. */
  readonly digest: string;
}

/** The archive of a chart that was received. */
export interface ReceivedChart {
  readonly chart: Chart;
  readonly blob: ReceivedBlob;
}

/** Maximum bytes of a chart after decompression: Helm reads no larger one. */
const UNPACKED_BYTES_MAX = 100 * 1024 * 1024;

/**
 * Stores and inspects the archive of a chart while it arrives. @throws Failure `malformed`,
 * `too_large`
 */
export async function receiveChart(
  ctx: Ctx,
  pieces: AsyncIterable<Uint8Array>,
): Promise<ReceivedChart> {
  let chart: Chart | undefined;
  const inspecting = inspectPieces(pieces, inspectChart, (result) => {
    chart = result;
  });
  const blob = await receiveBlob(ctx, "helm", inspecting);
  if (!chart) throw new Error("the chart was stored without an inspection");
  return { chart, blob };
}

async function inspectChart(archive: AsyncIterable<Uint8Array>): Promise<Chart> {
  let chart: Chart | undefined;
  for await (const { inside, entry } of readOneFolder(streamTarGz(archive, UNPACKED_BYTES_MAX))) {
    if (inside !== "Chart.yaml") continue;
    if (chart) throw malformed("the archive has two files Chart.yaml");
    chart = await parseChart(await entry.read(CHART_YAML_BYTES_MAX));
  }
  if (!chart) throw malformed("the archive has no Chart.yaml");
  return chart;
}

/**
 * Publishes a chart, with its provenance if there is one.
 *
 * @throws Failure `conflict` for a version that exists, and for one whose file has the name of
 * another chart's; `malformed` for the provenance of another archive; and as `publishVersion`.
 */
export async function publishChart(
  ctx: Ctx,
  owner: PackageOwner,
  { chart, blob }: ReceivedChart,
  provenance: Uint8Array | undefined,
): Promise<void> {
  const { name, version } = chart;
  const blobs = [blob];
  const { known, files } = await withBlobs(ctx, blobs, async () => {
    const pkg = await findPackage(ctx, owner, { type: "helm", nameKey: name });
    const file = chartFileName(chart);
    const found: PublishedFile[] = [{ blob, name: file, nameKey: file, isLead: true }];
    if (!provenance) return { known: pkg, files: found };
    await requireProvenanceOf(provenance, chart, blob.sha256);
    const signed = await storeBlob(ctx, "helm", provenance);
    blobs.push(signed);
    return { known: pkg, files: [...found, provenanceFile(chart, signed)] };
  });
  const metadata: ChartMetadata = { chart, digest: blob.sha256 };
  await publishVersion(ctx, owner, known, {
    type: "helm",
    name,
    nameKey: name,
    version,
    versionKey: version,
    metadata,
    files,
    ifVersionExists: "refuse",
    also: (key) => [requireFreeName(ctx, owner, chart, publishedVersionId(key))],
    refusalOf: (error) =>
      isViolation(error, "NOT NULL", "package_versions.version")
        ? conflict(`another chart has the file ${chartFileName(chart)}`)
        : undefined,
  });
}

/**
 * Adds the provenance of a chart that is there.
 *
 * @throws Failure `not_found` without the chart; `malformed` for that of another archive;
 *   `conflict` if the chart has one.
 */
export async function publishProvenance(
  ctx: Ctx,
  owner: PackageOwner,
  bytes: Uint8Array,
): Promise<void> {
  const { name, version } = await parseProvenance(bytes);
  const pkg = await findPackage(ctx, owner, { type: "helm", nameKey: name });
  const found = pkg && (await findVersion(ctx, pkg, version));
  if (!found) throw notFound("the chart does not exist");
  await requireProvenanceOf(bytes, { name, version }, (found.metadata as ChartMetadata).digest);
  const blob = await storeBlob(ctx, "helm", bytes);
  await publishVersion(ctx, owner, pkg, {
    type: "helm",
    name,
    nameKey: name,
    version,
    versionKey: version,
    metadata: found.metadata,
    files: [provenanceFile({ name, version }, blob)],
    ifVersionExists: "add",
  });
}

function provenanceFile(chart: ChartKey, blob: ReceivedBlob): PublishedFile {
  const name = `${chartFileName(chart)}.prov`;
  return { blob, name, nameKey: name };
}

async function requireProvenanceOf(
  bytes: Uint8Array,
  { name, version }: ChartKey,
  sha256: string,
): Promise<void> {
  const provenance = await parseProvenance(bytes);
  const isOfChart =
    provenance.name === name && provenance.version === version && provenance.sha256 === sha256;
  if (!isOfChart) throw malformed("the provenance is of another archive");
}

/** The statement that fails the batch if another chart has a file of the same name. */
function requireFreeName(
  { db }: Ctx,
  { account }: PackageOwner,
  chart: ChartKey,
  versionId: ReturnType<typeof sql<number>>,
) {
  const others = chartsOfFile(chartFileName(chart)).filter(({ name }) => name !== chart.name);
  const list = JSON.stringify(others.map(({ name, version }) => [name, version]));
  const isFree = sql`not exists (
    select 1
    from json_each(${list}) other
    join ${packages}
      on ${packages.ownerId} = ${account.id}
      and ${packages.type} = 'helm'
      and ${packages.nameKey} = other.value ->> 0
    join ${packageVersions} taken
      on taken.package_id = ${packages.id}
      and taken.version_key = other.value ->> 1
  )`;
  return db
    .update(packageVersions)
    .set({ version: onlyWhile(isFree, chart.version) })
    .where(sql`${packageVersions.id} = ${versionId}`);
}
