import { readAddress } from "../../domain/actions/artifacts/artifact-address.ts";
import { ARTIFACT_PARTS_MAX } from "../../domain/actions/artifacts/artifact-limits.ts";
import { findAddressedArtifact } from "../../domain/actions/artifacts/find-artifact.ts";
import {
  commitBlocks,
  receiveBlock,
  receiveWhole,
} from "../../domain/actions/artifacts/upload-archive.ts";
import { answerArtifact } from "../../entrance/answer-artifact.ts";
import { parseCanonicalBase64 } from "../../lib/base64.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import { parseXml } from "../../lib/xml.ts";
import { type ArtifactsContext, ctxOf } from "./env.ts";
import { readSmallBody } from "./read-small-body.ts";

const LIST_BYTES_MAX = 4 * 1024 * 1024;
/** The version of the protocol where a client states none. */
const BLOB_VERSION = "2025-01-05";

const queryOf = (c: ArtifactsContext): URLSearchParams => new URL(c.req.url).searchParams;

/**
 * Receives an artifact in blocks and their list, or at once, as Azure's block blobs have it.
 *
 * @see https://learn.microsoft.com/rest/api/storageservices/put-block
 */
export async function receiveUpload(c: ArtifactsContext): Promise<Response> {
  const ctx = ctxOf(c);
  const query = queryOf(c);
  const addressed = await readAddress(ctx, "upload", query);
  switch (query.get("comp")) {
    case "block":
      await receiveBlock(ctx, addressed, query.get("blockid") ?? "", bytesOf(c, "content-md5"));
      break;
    case "blocklist":
      await commitBlocks(ctx, addressed, await readBlockList(c));
      break;
    case null:
      if (!/^BlockBlob$/i.test(c.req.header("x-ms-blob-type") ?? "")) {
        throw malformed("artifacts are block blobs");
      }
      await receiveWhole(ctx, addressed, bytesOf(c, "content-md5"));
      break;
    default:
      throw malformed("the upload has another comp than block and blocklist");
  }
  const clientId = c.req.header("x-ms-client-request-id");
  return new Response(null, {
    status: 201,
    headers: {
      ETag: `"${addressed.artifactId}-${ctx.now}"`,
      "Last-Modified": new Date(ctx.now).toUTCString(),
      "x-ms-request-id": c.env.requestId,
      "x-ms-request-server-encrypted": "false",
      "x-ms-version": c.req.header("x-ms-version") ?? BLOB_VERSION,
      ...(clientId !== undefined && { "x-ms-client-request-id": clientId }),
    },
  });
}

/**
 * The body of a request, which states its length, with the MD5 of a header.
 *
 * @throws Failure `malformed`.
 */
export function bytesOf(c: ArtifactsContext, md5Header: string) {
  const length = c.req.header("content-length") ?? "";
  if (!/^\d{1,15}$/.test(length)) throw malformed("the request states no length");
  const stated = c.req.header(md5Header);
  const md5 = stated === undefined ? undefined : parseCanonicalBase64(stated);
  if (stated !== undefined && md5?.length !== 16) throw malformed("the hash is no MD5 in base64");
  return { sizeBytes: Number(length), body: c.req.raw.body, md5 };
}

async function readBlockList(c: ArtifactsContext): Promise<readonly string[]> {
  const bytes = await readSmallBody(c.req.raw, LIST_BYTES_MAX);
  // One more than are allowed, so that too many are refused as such.
  const root = await parseXml(bytes, { elementsMax: ARTIFACT_PARTS_MAX + 2, depthMax: 2 });
  if (root?.name !== "BlockList") throw malformed("the list of blocks is no such XML document");
  return root.children.map(({ text }) => text);
}

/** Sends an artifact to a job. */
export async function sendDownload(c: ArtifactsContext): Promise<Response> {
  const ctx = ctxOf(c);
  const addressed = await readAddress(ctx, "download", queryOf(c));
  const { artifact } = await findAddressedArtifact(ctx, addressed);
  return answerArtifact(c.req.raw, ctx, artifact);
}

/** Sends an artifact to whom the API has led here. */
export async function sendZip(c: ArtifactsContext): Promise<Response> {
  const ctx = ctxOf(c);
  const { owner, repo, artifact: id } = c.req.param() as Record<string, string>;
  const query = queryOf(c);
  query.set("artifactID", id ?? "");
  const addressed = await readAddress(ctx, "zip", query);
  const { artifact, ownerName, repoName } = await findAddressedArtifact(ctx, addressed);
  if (owner?.toLowerCase() !== ownerName || repo?.toLowerCase() !== repoName) throw notFound();
  return answerArtifact(c.req.raw, ctx, artifact);
}
