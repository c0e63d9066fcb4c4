import { and, desc, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packages, packageVersions } from "../../db/schema/index.ts";
import type { RegistryRequest } from "../enter-registry.ts";
import type { ChartMetadata } from "./publish-chart.ts";
import { chartFileName, compareChartVersions } from "./names.ts";

/** A version of a chart, as indexes show it. */
export type ChartEntry = Readonly<Record<string, unknown>> & {
  readonly name: string;
  readonly version: string;
};

/** Selects the charts of an owner, or the versions of one. @param name Undefined for all. */
export async function listCharts(
  ctx: Ctx,
  { owner, sees }: RegistryRequest,
  urlOf: (file: string) => string,
  name?: string,
): Promise<Record<string, ChartEntry[]>> {
  const rows = await chartVersions(ctx.db, { ownerId: owner.account.id, name });
  const entries = new Map<string, ChartEntry[]>();
  for (const row of rows) {
    // SECURITY: an index has no charts that the caller may not see.
    if (!sees(row)) continue;
    const { chart, digest } = row.metadata as ChartMetadata;
    const entry: ChartEntry = {
      ...chart,
      created: new Date(row.createdAt).toISOString(),
      digest,
      urls: [urlOf(chartFileName(chart))],
    };
    const versions = entries.get(row.name);
    if (versions) versions.push(entry);
    else entries.set(row.name, [entry]);
  }
  for (const versions of entries.values()) {
    versions.sort((a, b) => compareChartVersions(a.version, b.version));
  }
  return Object.fromEntries(entries);
}

const chartVersions = prepare(
  (db, { ownerId, name }: Params<{ ownerId: number; name: string | undefined }>) =>
    db
      .select({
        id: sql<number>`${packages.id}`.as("package_id"),
        name: packages.name,
        repoId: packages.repoId,
        isRestricted: packages.isRestricted,
        isConcealed: packages.isConcealed,
        metadata: packageVersions.metadata,
        createdAt: sql<number>`${packageVersions.createdAt}`.as("published_at"),
      })
      .from(packages)
      .innerJoin(packageVersions, eq(packageVersions.packageId, packages.id))
      .where(
        and(
          eq(packages.ownerId, ownerId),
          eq(packages.type, "helm"),
          name && eq(packages.nameKey, name),
          eq(packageVersions.isInternal, false),
        ),
      )
      .orderBy(packages.nameKey, desc(packageVersions.id)),
);

/**
 * Formats the index of a repository of charts: YAML, with each version in the form of JSON, which
 * is a part of YAML and takes a hundredth of the time.
 *
 * @param contextPath The path of the repository, from which clients that push make the address.
 * @see helm.sh/docs/topics/chart_repository, "The index file".
 */
export function formatIndex(
  entries: Readonly<Record<string, readonly ChartEntry[]>>,
  generatedAt: number,
  contextPath: string,
): string {
  const charts = Object.entries(entries).flatMap(([name, versions]) =>
    [`  ${formatFlow(name)}:`].concat(versions.map((entry) => `  - ${formatFlow(entry)}`)),
  );
  return [
    "apiVersion: v1",
    charts.length > 0 ? "entries:" : "entries: {}",
    ...charts,
    `generated: ${formatFlow(new Date(generatedAt).toISOString())}`,
    "serverInfo:",
    `  contextPath: ${formatFlow(contextPath)}`,
    "",
  ].join("\n");
}

/** JSON that parsers of YAML read too: they refuse some characters that JSON has as they are. */
const formatFlow = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
