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

/** The files of a remote, in base64, with those that were uploaded. */
export const readLfsFiles = (name: string): Record<string, string> =>
  remotes.get(name)?.files ?? {};

interface LfsRequest {
  readonly name: string;
  readonly method: string;
  readonly headers: Record<string, unknown>;
  readonly body: Buffer;
}

/** Answers a request of the batch API. @see git-lfs, docs/api/batch.md. */
export function answerBatch(
  { name, body }: LfsRequest,
  origins: readonly string[],
  response: ServerResponse,
): void {
  const state = remotes.get(name);
  const status = state?.statuses?.["batch"]?.shift() ?? (state ? 200 : 404);
  if (!state || status !== 200) return void response.writeHead(status).end("{}");
  const { operation, objects } = JSON.parse(body.toString()) as {
    operation: string;
    objects: { oid: string; size: number }[];
  };
  const host = origins[state.isElsewhere ? 1 : 0];
  const answered = objects
    .filter(({ oid }) => !state.unmentioned?.includes(oid))
    .map((object) => {
      const action = { href: `${host}/lfs/${name}/${object.oid}`, header: { [WANTED]: "1" } };
      const isThere = Object.hasOwn(state.files, object.oid);
      if (operation === "upload") {
        const verify = { ...action, href: `${action.href}/verify` };
        return isThere ? object : { ...object, actions: { upload: action, verify } };
      }
      return isThere
        ? { ...object, actions: { download: action } }
        : { ...object, error: { code: 404, message: "Object does not exist" } };
    });
  response
    .writeHead(200, { "Content-Type": MEDIA_TYPE })
    .end(JSON.stringify({ transfer: "basic", objects: answered }));
}

/** Answers a request for a file. */
export function answerFile(
  { name, method, headers, body }: LfsRequest,
  oid: string,
  verb: string | undefined,
  response: ServerResponse,
): void {
  const state = remotes.get(name);
  const status = state?.statuses?.[oid]?.shift();
  if (status !== undefined) return void response.writeHead(status).end();
  const file = state?.files[oid];
  if (headers[WANTED] !== "1") return void response.writeHead(403).end();
  if (method === "PUT" && state) state.files[oid] = body.toString("base64");
  else if (verb !== "verify" && file !== undefined) {
    return void response.end(Buffer.from(file, "base64"));
  }
  response.writeHead(state?.files[oid] === undefined ? 404 : 200).end();
}
