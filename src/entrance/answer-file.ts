import type { Ctx } from "../context.ts";
import { detectContentType, isPdf, mayRun } from "../domain/code/contents/content-type.ts";
import type { FoundFile, NamedFile } from "../domain/code/contents/find-file.ts";
import type { FileContent, openBlob } from "../domain/code/contents/open-content.ts";
import { readSnapshot, type RepositorySnapshot } from "../domain/code/git/open-snapshot.ts";
import { revisionTime } from "../domain/code/git/revision-time.ts";
import { isSymlinkMode } from "../git/object/tree.ts";
import { type Validators, evaluateConditions, versionHeaders } from "../lib/conditional-request.ts";
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
export async function answerRepositoryFile(
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
  const { sizeBytes } = content;
  const isImmutable = content.isFinal && isPinned;
  const version = { ...versionOf(snapshot, file, content), isDateExact: !isImmutable };
  const headers = {
    ...headersOf(file, version),
    ...(isImmutable && immutableHeaders({ ctx }, repo)),
  };
  const outcome = evaluateConditions(request, version, sizeBytes);
  if (outcome.status === 416) {
    const unsatisfied = { ...headers, "Content-Range": `bytes */${sizeBytes}` };
    return new Response(null, { status: 416, headers: unsatisfied });
  }
  if (outcome.status !== 200 && outcome.status !== 206) {
    return new Response(null, { status: outcome.status, headers });
  }
  const pieces = content.stream();
  const { value: first = new Uint8Array(0) } = await pieces.next();
  const isPart = outcome.status === 206;
  const { start, end } = isPart ? outcome.range : { start: 0, end: sizeBytes };
  const answer = {
    status: outcome.status,
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

/** The file is at least as old as the commit that is read. */
const versionOf = (
  snapshot: RepositorySnapshot,
  { revision }: FoundFile,
  { oid }: FileContent,
): Validators => ({ tag: oid, modifiedAt: revisionTime(snapshot, revision) });

/**
 * SECURITY: files are untrusted content in the service's own origin. The headers sandbox them,
 * block scripts and forbid content sniffing. A PDF is not sandboxed, where viewers of browsers do
 * not start: no type that a file of its name is served with runs a script.
 */
function headersOf({ entry, name }: FoundFile, version: Validators): Record<string, string> {
  return {
    ...versionHeaders(version),
    // By the name, since a 304 is answered without the content, and its headers replace those of
    // the cached response.
    "Content-Disposition": `${mayRun(name) ? "attachment" : "inline"}; ${formatFilename(name)}`,
    "Content-Security-Policy": `default-src 'none'; style-src 'unsafe-inline'${isPdf(name) ? "" : "; sandbox"}`,
    "Accept-Ranges": "bytes",
    "X-Content-Type-Options": "nosniff",
    "X-Gitea-Object-Type": isSymlinkMode(entry.mode) ? "symlink" : "file",
    "Access-Control-Expose-Headers":
      "Content-Disposition, Content-Range, ETag, X-Gitea-Object-Type",
  };
}
