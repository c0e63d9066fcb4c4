import { eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch, type Results, type Statements } from "../../../db/batch.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import {
  IMPORT_STAGES,
  type Import,
  type ImportStage,
  type ImportState,
  imports,
  users,
} from "../../../db/schema/index.ts";
import type { ForgeReader } from "../../../forges/forge.ts";
import type { StepAnswers } from "../../../forges/step-answers.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { JobLease } from "../remotes/job-lease.ts";
import { RemoteFailure } from "../../../outgoing/remote-failure.ts";
import type { FetchSource } from "../remotes/fetch-remote.ts";
import { forgetAnswers } from "./stored-answers.ts";

/** Where an import reads. */
export interface ImportSource {
  readonly remote: FetchSource;
  /** The wiki's git data, if it is asked for. */
  readonly wiki?: FetchSource;
  /** Undefined for plain git. */
  readonly reader: ForgeReader | undefined;
  /**
   * Where all is in one archive: opens one of its files, or returns undefined if it has none of
   * this path.
   */
  readonly openFile?: (path: string) => AsyncGenerator<Uint8Array, void> | undefined;
  /**
   * The header with the credentials of the import for an address of its remote's own host; none for
   * any other.
   */
  authorizationFor(url: string): Readonly<Record<string, string>>;
}

/** The row was cancelled or deleted, or another job has it: this one ends. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** The columns that a step changes. */
type Change = Partial<Pick<Import, "stage" | "cursor" | "progress" | "options">>;

/**
 * The share of one message in the platform's limits of an invocation: 1,000 statements of D1, and
 * 10,000 calls of all kinds. A step that has begun may exceed it.
 */
const STATEMENTS_MAX = 500;
const REQUESTS_MAX = 1000;

/** Notes that an import keeps, and the characters of one. */
const NOTES_MAX = 100;
const NOTE_LENGTH_MAX = 300;
/**
 * Items of a stage. Without a limit, a list that leads back to its beginning would be read for
 * ever.
 */
const ITEMS_MAX = 1_000_000;

/** An import that a job works on. */
export class ImportJob {
  readonly ctx: Ctx;
  readonly repo: RepositoryContext;
  source: ImportSource;
  readonly lease: JobLease;
  row: Import;
  /** The forge's answers to the present step. */
  readonly answers: StepAnswers;
  /** Whether this job has got any further. */
  hasAdvanced = false;
  /** When the job is to end, in milliseconds: another message goes on. */
  readonly endsAt: number;
  private notes: string[] = [];

  constructor(
    {
      ctx,
      repo,
      row,
      lease,
      answers,
    }: Pick<ImportJob, "ctx" | "repo" | "row" | "lease" | "answers">,
    source: ImportSource,
    endsAt: number,
  ) {
    this.ctx = ctx;
    this.repo = repo;
    this.source = source;
    this.lease = lease;
    this.row = row;
    this.answers = answers;
    this.endsAt = endsAt;
  }

  /**
   * Whether another message is to go on: the time of this one is up, or what it may use is used.
   */
  get isTimeUp(): boolean {
    const { db, outgoing } = this.ctx;
    return (
      Date.now() >= this.endsAt ||
      db.statementCount >= STATEMENTS_MAX ||
      outgoing.requestCount >= REQUESTS_MAX
    );
  }

  /**
   * Notes what could not be taken, with the next commit. SECURITY: the text is shown; it has no
   * credentials.
   */
  note(text: string): void {
    this.notes.push(text.slice(0, NOTE_LENGTH_MAX).toWellFormed());
  }

  /**
   * Writes a step as one batch: the position at which the import continues, then its statements.
   *
   * @returns The results of the statements by their names.
   * @throws LeaseLost
   */
  async commit<const T extends Statements>(change: Change, statements?: T): Promise<Results<T>> {
    const { db } = this.ctx;
    const known = new Set(this.row.notes);
    const fresh = this.notes.filter((note) => !known.has(note));
    const notes = [...this.row.notes, ...new Set(fresh)].slice(0, NOTES_MAX);
    // The next step asks for other things.
    const isStepDone = change.stage !== undefined || change.cursor !== undefined;
    const forgetting = isStepDone && this.answers.hasStored ? [forgetAnswers(db, this.row.id)] : [];
    for (let attempt = 1; ; attempt++) {
      const isThis = eq(imports.id, this.row.id);
      const guard = db
        .update(imports)
        .set({
          ...change,
          notes,
          failureCount: 0,
          lastError: "",
          state: onlyWhile<ImportState>(this.lease.isHeld, "running"),
        })
        .where(isThis)
        .returning();
      try {
        const { job, ...results } = await batch(db, { job: guard, ...statements, forgetting });
        const [row] = job;
        if (!row) throw new LeaseLost();
        this.row = row;
        this.notes = [];
        this.hasAdvanced = true;
        if (isStepDone) this.answers.clear();
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the names of `statements`.
        return results as Results<T>;
      } catch (error) {
        // The lease may have been renewed while the batch was on its way.
        if (!isViolation(error, "NOT NULL", "imports.state")) throw error;
        if (attempt > 1) throw new LeaseLost();
      }
    }
  }

  /**
   * The progress with further items of the present stage. @throws RemoteFailure `too_large` if they
   * are too many.
   */
  counted(done: number, total?: number): Import["progress"] {
    const { stage, progress } = this.row;
    const before = progress[stage];
    const all = total ?? before?.total;
    const doneCount = (before?.done ?? 0) + done;
    if (doneCount > ITEMS_MAX) {
      throw new RemoteFailure("too_large", `it has more than ${ITEMS_MAX} ${stage}`);
    }
    return {
      ...progress,
      [stage]: { done: doneCount, ...(all !== undefined && { total: all }) },
    };
  }

  /** The change that begins the next stage. */
  nextStage(): { stage: ImportStage; cursor: null } {
    const at = IMPORT_STAGES.indexOf(this.row.stage);
    return { stage: IMPORT_STAGES[at + 1] ?? "finish", cursor: null };
  }

  get repoId(): number {
    return this.repo.row.id;
  }

  /** Whether the import includes a part besides git. */
  includes(part: Import["options"]["parts"][number]): boolean {
    return this.row.options.parts.includes(part);
  }
}

/** The account here of an author elsewhere. */
export interface MappedAuthor {
  readonly posterId: number | null;
  readonly originalAuthor: string;
  readonly originalAuthorId: number;
}

/** The id of an account that may be deleted meanwhile, as SQL over a value; null then. */
export const presentUserId = (id: SQL): SQL =>
  sql`(select ${users.id} from ${users} where ${users.id} = ${id})`;
