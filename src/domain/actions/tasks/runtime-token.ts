import { deriveSigningKey } from "../../../auth/signing-key.ts";
import type { Ctx } from "../../../context.ts";
import type { WorkflowTask } from "../../../db/schema/index.ts";

const ALGORITHM = "HS256";
const AUDIENCE = "actions runtime";

/** An hour more than the job may take by default, in seconds. */
const LIFE_SECONDS = 7 * 60 * 60;

/** What a runtime token is for: the artifacts of the run of a task. */
interface RuntimeClaims {
  readonly taskId: number;
  readonly runId: number;
  readonly jobId: number;
}

/**
 * The token by which the actions of a job store and read artifacts; "" where the service has no key
 * to sign with. It is good as long as its task runs.
 */
export async function makeRuntimeToken(
  { config, now }: Pick<Ctx, "config" | "now">,
  { id, runId, jobId }: Pick<WorkflowTask, "id" | "runId" | "jobId">,
): Promise<string> {
  const [key] = config.sealingKeys;
  if (!key) return "";
  const { SignJWT } = await import("jose");
  const seconds = Math.floor(now / 1000);
  // Names and values that clients of artifacts read.
  return new SignJWT({
    scp: `Actions.Results:${runId}:${jobId}`,
    TaskID: id,
    RunID: runId,
    JobID: jobId,
    ac: JSON.stringify([{ Scope: "", Permission: 2 }]),
  })
    .setProtectedHeader({ alg: ALGORITHM, kid: key.name })
    .setAudience(AUDIENCE)
    .setNotBefore(seconds)
    .setExpirationTime(seconds + LIFE_SECONDS)
    .sign(await deriveSigningKey(key, AUDIENCE));
}

/** Reads a token of `makeRuntimeToken`; undefined for one that is altered or has expired. */
export async function readRuntimeToken(
  { config, now }: Pick<Ctx, "config" | "now">,
  token: string,
): Promise<RuntimeClaims | undefined> {
  const { jwtVerify, errors } = await import("jose");
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = config.sealingKeys.find(({ name }) => name === kid);
        if (!key) throw new errors.JWKSNoMatchingKey();
        return deriveSigningKey(key, AUDIENCE);
      },
      { audience: AUDIENCE, algorithms: [ALGORITHM], currentDate: new Date(now) },
    );
    const { TaskID: taskId, RunID: runId, JobID: jobId } = payload as Record<string, number>;
    return taskId && runId && jobId ? { taskId, runId, jobId } : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
