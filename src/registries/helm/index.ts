import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import { z } from "zod";

import { deleteVersion } from "../../domain/packages/package/delete-version.ts";
import { findVersion } from "../../domain/packages/package/find-version.ts";
import { readFormParts } from "../../domain/issues/attachments/form-file.ts";
import { withBlobs, type ReceivedBlob } from "../../domain/packages/package/receive-blob.ts";
import { joinBytes } from "../../git/wire/pkt-line.ts";
import { malformed, notFound, tooLarge } from "../../lib/failure.ts";
import { answerFile } from "../answer-file.ts";
import { answerIndex } from "../answer-index.ts";
import { enterRegistry, type RegistryRequest } from "../enter-registry.ts";
import { enterOwner, enterPackage, requirePackage } from "../enter.ts";
import type { RegistryContext, RegistryEnv } from "../env.ts";
import { readBytes, readUpload } from "../read-upload.ts";
import { failureRenderer, jsonDialect } from "../render-failure.ts";
import { formatIndex, listCharts, type ChartEntry } from "./chart-index.ts";
import { findChartFile } from "./find-chart-file.ts";
import { requireChartKey } from "./names.ts";
import { PROVENANCE_BYTES_MAX } from "./parse-provenance.ts";
import {
  publishChart,
  publishProvenance,
  receiveChart,
  type ReceivedChart,
} from "./publish-chart.ts";

/**
 * A repository of Helm's charts, with the interface of ChartMuseum to publish them.
 *
 * @see helm.sh/docs/topics/chart_repository; github.com/helm/chartmuseum, "API".
 */
export const helm = new Hono<RegistryEnv>({ router: new TrieRouter() });

helm.get("/index.yaml", async (c) => {
  const request = await enter(c);
  const { ctx, owner, shown: registry, visibilityKey } = request;
  const base = `${ctx.rootUrl}${pathOf(request)}`;
  return answerIndex(c, ctx, {
    source: registry,
    kind: ["helm-index", owner.account.name, visibilityKey],
    type: "text/yaml; charset=utf-8",
    make: async () => {
      const entries = await listCharts(ctx, request, (file) => `${base}/${file}`);
      return formatIndex(entries, registry.changedAt, new URL(base).pathname);
    },
  });
});

helm.get("/api/charts", async (c) => {
  const request = await enter(c);
  const charts = await listCharts(request.ctx, request, (file) => `charts/${file}`);
  const { offset, limit } = Page.parse(c.req.query());
  return c.json(Object.fromEntries(Object.entries(charts).slice(offset, offset + limit)));
});

helm.get("/api/charts/:name", async (c) => {
  const versions = await listVersions(c);
  if (versions.length === 0) throw notFound("the chart does not exist");
  return c.json(versions);
});

helm.get("/api/charts/:name/:version", async (c) => {
  const versions = await listVersions(c);
  const requested = c.req.param("version");
  const found =
    requested === "latest" ? versions[0] : versions.find(({ version }) => version === requested);
  if (!found) throw notFound("the chart does not exist");
  return c.json(found);
});

helm.post("/api/charts", async (c) => {
  const { ctx, owner } = await enterOwner(c, { mode: "write" });
  const blobs: ReceivedBlob[] = [];
  const { chart, provenance } = await withBlobs(ctx, blobs, async () => {
    const parts = await readUploadParts(c, async (pieces) => {
      if (blobs.length > 0) throw malformed("a form has one chart");
      const received = await receiveChart(ctx, pieces);
      blobs.push(received.blob);
      return received;
    });
    if (!parts.chart) throw malformed("the form has no file in the field chart");
    return { ...parts, chart: parts.chart };
  });
  await publishChart(ctx, owner, chart, provenance);
  return c.json({ saved: true }, 201);
});

helm.post("/api/prov", async (c) => {
  const { ctx, owner } = await enterOwner(c, { mode: "write" });
  const { provenance } = isForm(c)
    ? await readUploadParts(c, () => Promise.reject(malformed("the form must not have a chart")))
    : { provenance: await readBytes(c, PROVENANCE_BYTES_MAX) };
  if (!provenance) throw malformed("the form has no file in the field prov");
  await publishProvenance(ctx, owner, provenance);
  return c.json({ saved: true }, 201);
});

helm.delete("/api/charts/:name/:version", async (c) => {
  const { name, version } = requireChartKey(c.req.param());
  const request = await enterPackage(c, { mode: "write", type: "helm", name, nameKey: name });
  const pkg = requirePackage(request);
  const found = await findVersion(request.ctx, pkg, version);
  if (!found) throw notFound("the chart does not exist");
  await deleteVersion(request.ctx, pkg, found);
  return c.json({ deleted: true });
});

for (const path of ["/:file", "/charts/:file"]) {
  helm.get(path, async (c) => {
    const request = await enter(c);
    const found = await findChartFile(request, c.req.param("file") ?? "");
    if (!found) throw notFound("the file does not exist");
    return answerFile(c, request.ctx, found, {
      type: found.file.isLead ? "application/gzip" : "text/plain; charset=utf-8",
    });
  });
}

helm.onError(failureRenderer(jsonDialect((message) => ({ error: message }))));

const enter = (c: RegistryContext): Promise<RegistryRequest> =>
  enterRegistry(c, { type: "helm", mode: "read" });

/** The path of the repository. */
const pathOf = ({ owner }: RegistryRequest): string =>
  `/api/packages/${encodeURIComponent(owner.account.name)}/helm`;

const Page = z.object({
  offset: z.coerce.number().int().min(0).catch(0),
  limit: z.coerce.number().int().min(0).catch(Number.MAX_SAFE_INTEGER),
});

async function listVersions(c: RegistryContext): Promise<ChartEntry[]> {
  const request = await enter(c);
  const name = c.req.param("name") ?? "";
  const charts = await listCharts(request.ctx, request, (file) => `charts/${file}`, name);
  return Object.values(charts).flat();
}

const isForm = (c: RegistryContext): boolean =>
  /^multipart\/form-data\b/i.test(c.req.header("content-type") ?? "");

/** The parts of an upload. */
interface ChartUpload {
  readonly chart: ReceivedChart | undefined;
  readonly provenance: Uint8Array | undefined;
}

/**
 * Reads an upload: the archive itself, or a form with the files `chart` and `prov`.
 *
 * @throws Failure `malformed`, also for other fields with files.
 */
async function readUploadParts(
  c: RegistryContext,
  receive: (pieces: AsyncIterable<Uint8Array>) => Promise<ReceivedChart>,
): Promise<ChartUpload> {
  if (!isForm(c)) return { chart: await receive(readUpload(c)), provenance: undefined };
  const { body } = c.req.raw;
  if (!body) throw malformed("the form is empty");
  let chart: ReceivedChart | undefined;
  let provenance: Uint8Array | undefined;
  for await (const part of readFormParts(c.req.header("content-type") ?? "", body)) {
    if (part.filename === undefined) continue;
    if (part.name === "chart") chart = await receive(part.pieces);
    else if (part.name === "prov" && !provenance) provenance = await gather(part.pieces);
    else throw malformed("the form has another file than one chart and one prov");
  }
  return { chart, provenance };
}

async function gather(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > PROVENANCE_BYTES_MAX) throw tooLarge("the provenance is too large");
    all.push(piece.slice());
  }
  return joinBytes(all);
}
