import type { Ctx } from "../context.ts";
import { detectContentType, mayRun } from "../domain/code/contents/content-type.ts";
import type { FoundFile, NamedFile } from "../domain/code/contents/find-file.ts";
import type { FileContent, openBlob } from "../domain/code/contents/open-content.ts";
import { readSnapshot, type RepositorySnapshot } from "../domain/code/git/open-snapshot.ts";
import { isSymlinkMode } from "../git/object/tree.ts";
import { parseRange } from "../lib/byte-range.ts";
import { hasTag } from "../lib/entity-tag.ts";
import { formatFilename } from "../lib/header-value.ts";
import { log } from "../lib/log.ts";
import { streamOf } from "../lib/stream-of.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";
import { immutableHeaders } from "./immutable-headers.ts";

/**
 * Responds with a file of a repository or a range of it, or without a body if the client has the
 * file or sends HEAD.
 *
 * @param find Finds the file, or throws.
 * @param openContent Opens its content: `openBlob`, or `openMedia`.
 */
export async function answerFile(
  { ctx, repo, request }: { ctx: Ctx; repo: RepositoryContext; request: Request },
  find: (snapshot: RepositorySnapshot) => Promise<NamedFile>,
  openContent: typeof openBlob,
): Promise<Response> {
  const { snapshot, file, isPinned, content } = await readSnapshot(ctx, repo, async (opened) => {
    const found = await find(opened);
    return {
      snapshot: opened,
      ...found,
      content: await openContent(ctx, repo.row, opened, found.file),
    };
  });
  const { oid, sizeBytes } = content;
  const headers = {
    ...headersOf(snapshot, file, content),
    ...(content.isFinal && isPinned && immutableHeaders({ ctx }, repo)),
  };
  if (hasTag(request.headers.get("if-none-match") ?? undefined, oid)) {
    return new Response(null, { status: 304, headers });
  }
  const range = rangeOf(request, sizeBytes, headers);
  if (range === "none") {
    const unsatisfied = { ...headers, "Content-Range": `bytes */${sizeBytes}` };
    return new Response(null, { status: 416, headers: unsatisfied });
  }
  const pieces = content.stream();
  const { value: first = new Uint8Array(0) } = await pieces.next();
  const isPart = range !== "whole";
  const { start, end } = isPart ? range : { start: 0, end: sizeBytes };
  const answer = {
    status: isPart ? 206 : 200,
    headers: {
      ...headers,
      "Content-Type": detectContentType(file.name, first),
      "Content-Length": String(end - start),
      ...(isPart && { "Content-Range": `bytes ${start}-${end - 1}/${sizeBytes}` }),
    },
  };
  const isHead = request.method === "HEAD";
  if (isHead || end <= first.length) {
    await pieces.return(undefined);
    const body = first.subarray(start, end) as Uint8Array<ArrayBuffer>;
    return new Response(isHead ? null : body, answer);
  }
  const part = cut(first, pieces, start, end);
  const sent = streamOf(part, (sentBytes) => logSent(ctx, sentBytes));
  return new Response(sent.pipeThrough(new FixedLengthStream(end - start)), answer);
}

/**
 * The requested range; the whole file if the client's `If-Range` does not match the current
 * content.
 */
function rangeOf(
  { method, headers }: Request,
  sizeBytes: number,
  { ETag: tag, "Last-Modified": modified }: Record<string, string>,
): ReturnType<typeof parseRange> {
  const condition = headers.get("if-range") ?? tag;
  const isFresh = condition === tag || condition === modified;
  const range = headers.get("range") ?? undefined;
  return method === "GET" && isFresh ? parseRange(range, sizeBytes) : "whole";
}

/** The bytes from `start` to `end`, exclusive, of the stream that `first` and `rest` form. */
async function* cut(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  try {
    let at = 0;
    for (let piece = first; ;) {
      const from = at;
      // Before the yield: the consumer may take over the buffer, which empties `piece`.
      at += piece.length;
      yield piece.subarray(Math.max(0, start - from), Math.max(0, end - from));
      const next = at < end ? await rest.next() : undefined;
      if (!next || next.done) return;
      piece = next.value;
    }
  } finally {
    await rest.return(undefined);
  }
}

function logSent({ client, git }: Ctx, sentBytes: number): void {
  log("raw:sent", { id: client.requestId, ...git.usage.counts(), sentBytes });
}

/** The end of the year 9999, in seconds; commit times are arbitrary client input. */
const SECONDS_MAX = 253_402_300_799;

/**
 * SECURITY: files are untrusted content in the service's own origin. The headers sandbox them,
 * block scripts and forbid content sniffing.
 */
function headersOf(
  { repository: { graph } }: RepositorySnapshot,
  { entry, name, revision }: FoundFile,
  { oid }: FileContent,
): Record<string, string> {
  // The file is at least as old as the commit that is read.
  const seconds = Math.min(graph.times[revision.node] as number, SECONDS_MAX);
  return {
    ETag: `"${oid}"`,
    "Last-Modified": new Date(seconds * 1000).toUTCString(),
    // By the name, since a 304 is answered without the content, and its headers replace those of
    // the cached response.
    "Content-Disposition": `${mayRun(name) ? "attachment" : "inline"}; ${formatFilename(name)}`,
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Accept-Ranges": "bytes",
    "X-Content-Type-Options": "nosniff",
    "X-Gitea-Object-Type": isSymlinkMode(entry.mode) ? "symlink" : "file",
    "Access-Control-Expose-Headers":
      "Content-Disposition, Content-Range, ETag, X-Gitea-Object-Type",
  };
}
