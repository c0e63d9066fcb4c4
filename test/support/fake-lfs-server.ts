import type { ServerResponse } from "node:http";

/** The large files of a remote, and what goes wrong with them. */
export interface LfsFiles {
  /** In base64, by the id under which they are served, which need not be theirs. */
  files: Record<string, string>;
  /** What requests are answered with first, one each: by the id of a file, or `batch`. */
  statuses?: Record<string, number[]>;
  /** Ids that the answer to a batch says nothing of. */
  unmentioned?: string[];
  /** Whether files are on the other host. */
  isElsewhere?: boolean;
}

const MEDIA_TYPE = "application/vnd.git-lfs+json";
/** A header that each file wants, as those of a bucket do. */
const WANTED = "x-lfs-ticket";

const remotes = new Map<string, LfsFiles>();

export const setLfsFiles = (name: string, files: LfsFiles): void => void remotes.set(name, files);

/** Answers a request of the batch API to download. @see git-lfs, docs/api/batch.md. */
export function answerBatch(
  name: string,
  body: Buffer,
  origins: readonly string[],
  response: ServerResponse,
): void {
  const state = remotes.get(name);
  const status = state?.statuses?.["batch"]?.shift() ?? (state ? 200 : 404);
  if (!state || status !== 200) return void response.writeHead(status).end("{}");
  const { objects } = JSON.parse(body.toString()) as { objects: { oid: string; size: number }[] };
  const host = origins[state.isElsewhere ? 1 : 0];
  const answered = objects
    .filter(({ oid }) => !state.unmentioned?.includes(oid))
    .map(({ oid, size }) => {
      const download = { href: `${host}/lfs/${name}/${oid}`, header: { [WANTED]: "1" } };
      return Object.hasOwn(state.files, oid)
        ? { oid, size, actions: { download } }
        : { oid, size, error: { code: 404, message: "Object does not exist" } };
    });
  response
    .writeHead(200, { "Content-Type": MEDIA_TYPE })
    .end(JSON.stringify({ transfer: "basic", objects: answered }));
}

/** Answers a request for a file. */
export function answerFile(
  name: string,
  oid: string,
  headers: Record<string, unknown>,
  response: ServerResponse,
): void {
  const state = remotes.get(name);
  const status = state?.statuses?.[oid]?.shift();
  if (status !== undefined) return void response.writeHead(status).end();
  if (headers[WANTED] !== "1") return void response.writeHead(403).end();
  const file = state?.files[oid];
  if (file === undefined) return void response.writeHead(404).end();
  response.end(Buffer.from(file, "base64"));
}
