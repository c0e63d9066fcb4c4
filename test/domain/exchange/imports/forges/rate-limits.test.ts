import { eq } from "drizzle-orm";
import { expect, it } from "vitest";

import { importAnswers, imports } from "../../../../../src/db/schema/index.ts";
import { advanceImport } from "../../../../../src/domain/exchange/imports/advance-import.ts";
import type { StepAnswers } from "../../../../../src/forges/step-answers.ts";
import { RemoteFailure } from "../../../../../src/outgoing/remote-failure.ts";
import { call } from "../../../../support/call.ts";
import { db } from "../../../../support/db.ts";
import { importGitea } from "../../../../support/forges/import-gitea.ts";
import { importGitHub } from "../../../../support/forges/import-github.ts";
import { importGitLab } from "../../../../support/forges/import-gitlab.ts";
import { readBack, service } from "../../../../support/forges/import-sample.ts";
import { WINDOW_SECONDS } from "../../../../support/forges/rate-window.ts";
import {
  DataReader,
  findImportRow,
  makeForeignData,
  makeForeignGit,
  makeImport,
  sourceOf,
} from "../../../../support/imports.ts";
import { make } from "../../../../support/make.ts";
import { systemCtx } from "../../../../support/system.ts";
import { sampleOf } from "../../../../support/sample.ts";

const LIMITED = "Remote visit addressed rate limitation.";

type TakeOver = (
  perWindow?: number,
) => ReturnType<typeof importGitHub | typeof importGitLab | typeof importGitea>;
const github: TakeOver = (perWindow) => importGitHub({ ...(perWindow && { perWindow }) });
const gitlab: TakeOver = (perWindow) => importGitLab(null, perWindow);
const gitea: TakeOver = (perWindow) => importGitea({ ...(perWindow && { perWindow }) });
const gogs: TakeOver = (perWindow) =>
  importGitea({ isGogs: true, ...(perWindow && { perWindow }) });

// Steps make up to some 30 requests.
const LIMITS: [string, number, number, TakeOver][] = [
  ["GitHub", 5, 5, github],
  ["GitLab", 5, 46, gitlab],
  ["Gitea", 5, 2, gitea],
  ["Gogs", 5, 1, gogs],
  ["GitHub", 1, 5, github],
];

it.each(sampleOf(LIMITS, 2, "rate limits"))(
  "takes the same from %s where it allows %d requests at a time",
  async (_, perWindow, pull, takeOver) => {
    const slow = await takeOver(perWindow);
    expect(slow.row).toMatchObject({ state: "done", lastError: "" });
    expect([...slow.errors]).toContain(LIMITED);
    const whole = await takeOver();
    const shown = async (at: typeof slow) =>
      JSON.parse(JSON.stringify(await readBack(at, pull)).replaceAll(/\/at-[0-9a-f-]+/g, ""));
    expect(await shown(slow)).toEqual(await shown(whole));
    // What was answered is not asked for again.
    expect(slow.requests.length).toBeLessThan(whole.requests.length * (perWindow === 1 ? 5 : 3));
    expect(await findAnswers(slow.row.id)).toEqual([]);
  },
  240_000,
);

const findAnswers = (importId: number) =>
  db.select().from(importAnswers).where(eq(importAnswers.importId, importId));

it("shows a wait of hours, and can be cancelled meanwhile", async () => {
  let waits = 0;
  const { row } = await importGitea({ perWindow: 5 }, async (waiting, { path, owner }) => {
    if (++waits !== 5) return;
    const stateOf = async () => [
      (await call("GET", `${path}/migration`, { as: owner })).body,
      (await call("GET", path, { as: owner })).body.migration,
    ];
    const [shown, onRecord] = await stateOf();
    expect(shown).toMatchObject({ state: "waiting", stage: "issues", last_error: LIMITED });
    const waitSeconds = (Date.parse(shown.next_attempt_at) - Date.now()) / 1000;
    expect(waitSeconds).toBeGreaterThan(WINDOW_SECONDS - 60);
    expect(waitSeconds).toBeLessThan(WINDOW_SECONDS + 60);
    expect(onRecord).toBe("waiting");
    expect(await findAnswers(waiting.id)).not.toEqual([]);

    const cancelled = await call("POST", `${path}/migration/cancel`, { as: owner });

    expect(cancelled).toMatchObject({ status: 200, body: { state: "cancelled" } });
    expect(await stateOf()).toMatchObject([
      { state: "cancelled", next_attempt_at: null },
      "cancelled",
    ]);
    expect(await findAnswers(waiting.id)).toEqual([]);
  });

  // The message that was on its way finds nothing to do.
  expect(row).toMatchObject({ state: "cancelled", stage: "issues", failureCount: 0 });
});

// SECURITY: what an account was shown is not taken over by the right of another one.
it("forgets what was answered where it goes on with other credentials", async () => {
  let waits = 0;
  const { row } = await importGitea({ perWindow: 5 }, async (waiting, { path, owner }) => {
    if (++waits !== 5) return;
    const goOn = (json: object) =>
      service("POST", `${path}/migration/continue`, { as: owner, json });
    expect(await goOn({})).toMatchObject({ status: 202, body: { state: "running" } });
    expect(await findAnswers(waiting.id)).not.toEqual([]);
    await db.update(imports).set({ state: "waiting" }).where(eq(imports.id, waiting.id));
    expect(await goOn({ auth_token: "another" })).toMatchObject({ status: 202 });
    expect(await findAnswers(waiting.id)).toEqual([]);
  });

  // The sample is public, and no other token is right.
  expect(row).toMatchObject({ state: "failed", lastError: expect.stringContaining("401") });
});

/** A reader to which one answer is given before the limit, too large to be kept. */
class StuckReader extends DataReader {
  answers: StepAnswers | undefined;

  override async readProject(): Promise<never> {
    this.answers?.add("https://forge.example/api", { text: "x".repeat(2_000_000) });
    throw new RemoteFailure("rate_limited", "too many", Date.now() + 60_000);
  }
}

it("gives up where no wait can help", async () => {
  const git = await makeForeignGit();
  const { importId } = await makeImport(await make.user(), git.remote);
  const reader = new StuckReader(makeForeignData(git));
  for (let attempt = 1; attempt <= 8; attempt++) {
    const ctx = systemCtx({}, Date.now());
    await advanceImport(ctx, importId, async (_, __, answers) => {
      reader.answers = answers;
      return sourceOf(ctx, git.remote, reader);
    });
    const { state, failureCount } = await findImportRow(importId);
    expect([state, failureCount]).toEqual(attempt < 8 ? ["waiting", attempt] : ["failed", 7]);
    await db.update(imports).set({ dueAt: 1 }).where(eq(imports.id, importId));
  }
});
