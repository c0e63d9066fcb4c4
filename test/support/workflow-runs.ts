import { and, asc, eq, isNotNull } from "drizzle-orm";

import { settleRun } from "../../src/domain/actions/runs/settle-run.ts";
import {
  events,
  workflowJobs,
  type WorkflowRun,
  workflowRuns,
  type WorkState,
} from "../../src/db/schema/index.ts";
import { History } from "./commits.ts";
import { drawConsequences, pushQuietly, silentBindings } from "./consequences.ts";
import { db } from "./db.ts";
import { make, type TestRepo, type TestUser } from "./make.ts";
import { systemCtx } from "./system.ts";

/** A repository whose branch `main` has files. */
export interface PushedRepo {
  readonly owner: TestUser;
  readonly repo: TestRepo;
  readonly history: History;
  /** The commit of `main`. */
  readonly oid: string;
}

/** Makes a repository by one push, and draws what follows. @throws Error if that can't be drawn. */
export async function makePushed(
  files: Readonly<Record<string, string>>,
  message = "Add files\n",
): Promise<PushedRepo> {
  const owner = await make.user();
  const repo = await make.repo(owner, { isEmpty: true });
  const history = new History();
  const oid = history.commit({ files, message });
  await pushQuietly(owner, repo, [{ ref: "refs/heads/main", new: oid }], history.build());
  await drawConsequences();
  const isPending = and(eq(events.repoId, repo.id), isNotNull(events.consequencesAt));
  const [pending] = await db.select().from(events).where(isPending).limit(1);
  if (pending) throw new Error(`an event is not drawn yet: ${JSON.stringify(pending)}`);
  return { owner, repo, history, oid };
}

/** The runs of a repository, oldest first. */
export const runsOf = (repo: Pick<TestRepo, "id">): Promise<WorkflowRun[]> =>
  db
    .select()
    .from(workflowRuns)
    .where(eq(workflowRuns.repoId, repo.id))
    .orderBy(asc(workflowRuns.number));

export const jobsOf = ({ id }: Pick<WorkflowRun, "id">) =>
  db
    .select()
    .from(workflowJobs)
    .where(eq(workflowJobs.runId, id))
    .orderBy(asc(workflowJobs.position));

/** The states of the jobs of a run by their names, with that of the run under "". */
export async function statesOf(
  run: Pick<WorkflowRun, "id">,
): Promise<Readonly<Record<string, WorkState>>> {
  const [found] = await db.select().from(workflowRuns).where(eq(workflowRuns.id, run.id));
  const jobs = await jobsOf(run);
  return {
    "": found?.state ?? "blocked",
    ...Object.fromEntries(jobs.map(({ name, state }) => [name, state])),
  };
}

/** Gives a job a state as its runner would, and settles its run. */
export async function reach(
  run: Pick<WorkflowRun, "id">,
  name: string,
  state: WorkState,
  now = Date.now(),
): Promise<void> {
  await db
    .update(workflowJobs)
    .set({ state, ...(state === "running" ? { startedAt: now } : { stoppedAt: now }) })
    .where(and(eq(workflowJobs.runId, run.id), eq(workflowJobs.name, name)));
  await settleRun(systemCtx(silentBindings(), now, {}), run.id);
}
