import { z } from "zod";

import type { Ctx } from "../../context.ts";
import { signAddress } from "../../domain/actions/artifacts/artifact-address.ts";
import { createArtifact } from "../../domain/actions/artifacts/create-artifact.ts";
import { deleteArtifactOfRun } from "../../domain/actions/artifacts/delete-artifact.ts";
import { findArtifact, listArtifacts } from "../../domain/actions/artifacts/find-artifact.ts";
import type { ArtifactTask } from "../../domain/actions/artifacts/find-artifact-task.ts";
import { finishArchive } from "../../domain/actions/artifacts/upload-archive.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import { formatTime } from "../../lib/time.ts";
import { type ArtifactsContext, ctxOf, taskOf } from "./env.ts";
import { readSmallJson } from "./read-small-body.ts";

/** The path of the service of the fourth version. */
export const SERVICE = "/twirp/github.actions.results.api.v1.ArtifactService";

/** Artifacts that a job sees of its run, the newest ones. */
const LISTED_MAX = 1000;

/** The version from which clients name the media type; before, artifacts were zips. */
const ZIP = "application/zip";

/** A number of 64 bits in the JSON of protocol buffers. */
const Int64 = z.union([
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
  z.int().nonnegative(),
]);

const OfTask = z.object({
  workflowRunBackendId: z.string().default(""),
  workflowJobRunBackendId: z.string().default(""),
});
const Named = OfTask.extend({ name: z.string().default("") });
const Time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

const Create = Named.extend({
  expiresAt: Time.optional(),
  mimeType: z.string().default(ZIP),
});
const Finalize = Named.extend({
  size: Int64.default(0),
  hash: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/)
    .optional(),
});
const List = OfTask.extend({ nameFilter: z.string().optional(), idFilter: Int64.optional() });

/** What a method does with its message. */
type Answer = (
  ctx: Ctx,
  task: ArtifactTask,
  message: unknown,
  c: ArtifactsContext,
) => Promise<object>;

/**
 * A method of the service.
 *
 * SECURITY: a message names the run and the job of its token.
 */
const method =
  <T extends z.infer<typeof OfTask>>(
    schema: z.ZodType<T>,
    answer: (ctx: Ctx, task: ArtifactTask, message: T, c: ArtifactsContext) => Promise<object>,
  ): Answer =>
  (ctx, task, given, c) => {
    const { data: message, error } = schema.safeParse(given);
    if (error) {
      const [issue] = error.issues;
      throw malformed(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
    }
    const { workflowRunBackendId: runId, workflowJobRunBackendId: jobId } = message;
    if (runId !== String(task.runId) || jobId !== String(task.jobId)) {
      throw malformed("the run or the job is not that of the token");
    }
    return answer(ctx, task, message, c);
  };

const METHODS: ReadonlyMap<string, Answer> = new Map([
  [
    "CreateArtifact",
    method(Create, async (ctx, task, { name, expiresAt, mimeType }, c) => {
      const artifact = await createArtifact(ctx, task, {
        name,
        isArchive: true,
        mimeType,
        expiresAt,
      });
      const { id: artifactId } = artifact;
      const query = await signAddress(ctx, "upload", { artifactId, taskId: task.id });
      return { ok: true, signedUploadUrl: `${urlOf(c)}/UploadArtifact?${query.toString()}` };
    }),
  ],
  [
    "FinalizeArtifact",
    method(Finalize, async (ctx, task, { name, size: sizeBytes, hash }) => {
      const sha256 = hash?.slice("sha256:".length);
      const { id } = await finishArchive(ctx, task, name, { sizeBytes, sha256 });
      return { ok: true, artifactId: String(id) };
    }),
  ],
  [
    "ListArtifacts",
    method(List, async (ctx, task, { nameFilter: name, idFilter: id }) => {
      const filter = { ...ofRun(task), name, id };
      const { items } = await listArtifacts(ctx, filter, { size: LISTED_MAX, offset: 0 });
      const kept = items.filter(({ artifact }) => artifact.state === "ready");
      if (kept.length === 0) return {};
      return {
        artifacts: kept.map(({ artifact }) => ({
          workflowRunBackendId: String(task.runId),
          workflowJobRunBackendId: String(task.jobId),
          databaseId: String(artifact.id),
          name: artifact.name,
          size: String(artifact.sizeBytes),
          createdAt: formatTime(artifact.createdAt),
          digest: artifact.sha256 === "" ? undefined : `sha256:${artifact.sha256}`,
        })),
      };
    }),
  ],
  [
    "GetSignedArtifactURL",
    method(Named, async (ctx, task, { name }, c) => {
      const { artifact } = await findArtifact(ctx, { ...ofRun(task), name });
      if (artifact.state !== "ready") throw notFound();
      const addressed = { artifactId: artifact.id, taskId: task.id };
      const query = await signAddress(ctx, "download", addressed);
      return { signedUrl: `${urlOf(c)}/DownloadArtifact?${query.toString()}` };
    }),
  ],
  [
    "DeleteArtifact",
    method(Named, async (ctx, task, { name }) => {
      const found = await findArtifact(ctx, { ...ofRun(task), name });
      await deleteArtifactOfRun(ctx, found);
      return { ok: true, artifactId: String(found.artifact.id) };
    }),
  ],
]);

const ofRun = ({ repoId, runId }: ArtifactTask) => ({ repoId, runId });

/** The URL of the service under which the job called it. */
const urlOf = (c: ArtifactsContext): string => c.env.base.rootUrl + SERVICE;

/** Answers a call by Twirp's protocol, as JSON. */
export async function answerTwirp(c: ArtifactsContext): Promise<Response> {
  const answer = METHODS.get(c.req.param("method") ?? "");
  if (!answer) return Response.json({ code: "bad_route", msg: "no such method" }, { status: 404 });
  if (!/^application\/json\b/i.test(c.req.header("content-type") ?? "")) {
    throw malformed("the service speaks JSON");
  }
  const ctx = ctxOf(c);
  const task = await taskOf(c, ctx);
  const body = await readSmallJson(c.req.raw);
  if (typeof body !== "object" || body === null) throw malformed("the body is no JSON object");
  // Both forms of names are JSON of protocol buffers.
  const message = Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) =>
      value === null ? [] : [[toCamelCase(name), value] as const],
    ),
  );
  return Response.json(await answer(ctx, task, message, c));
}

const toCamelCase = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
