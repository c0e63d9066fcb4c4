import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";

import { describe, expect, it, onTestFinished } from "vitest";

import { inProject } from "../../../scripts/project.ts";
import { serviceUrl } from "../support/forge.ts";
import { Comparison } from "./differences.ts";
import { Player, TRIES_MAX, WAIT_MS } from "./player.ts";
import { isRequest, playable, readRecordings, type Step } from "./recording.ts";

/**
 * A difference that was decided, or a gap that is known. The patterns are regular expressions on
 * the recording's name, on "name METHOD path" of the step, and on the line of the difference.
 */
interface Decided {
  readonly recording?: string;
  readonly step?: string;
  readonly difference: string;
  readonly why: string;
}

const decided = JSON.parse(
  readFileSync(new URL("decided.json", import.meta.url), "utf8"),
) as Decided[];

/**
 * A folder with recordings of Gitea's answers, relative to the project; without it these tests are
 * skipped.
 */
const setting = process.env["EDGEFORGE_RECORDINGS"] ?? "";
const folder = resolve(inProject("."), setting);
const isSkipped = setting === "" || !existsSync(folder);
const reason = setting === "" ? "EDGEFORGE_RECORDINGS is not set" : `there is no ${folder}`;
if (isSkipped) process.stderr.write(`the recordings of Gitea are not played: ${reason}\n`);
const recordings = isSkipped ? [] : readRecordings(folder);
/** Recordings of areas that do not exist here have little more than a setup to play. */
const STEPS_MIN = 5;
const played = recordings
  .map((recording) => ({ name: recording.name, steps: playable(recording) }))
  .filter(({ steps }) => steps.length >= STEPS_MIN);

const used = new Set<Decided>();

/** Whether the list has a difference; remembers the entry. */
function isDecided(recording: string, label: string, difference: string): boolean {
  const entries = decided.filter(
    (each) =>
      new RegExp(each.recording ?? "").test(recording) &&
      new RegExp(each.step ?? "").test(label) &&
      new RegExp(each.difference).test(difference),
  );
  for (const entry of entries) used.add(entry);
  return entries.length > 0;
}

/** An answer that is not to be copied: an error of the server, or one with a note. */
const isCompared = (step: Step): boolean =>
  !isRequest(step) || (step.answer.status < 500 && step.note === undefined);

const isRead = (step: Step): boolean => isRequest(step) && step.method === "GET";

/** "name METHOD path" of a request, "name git" of commands. */
const labelOf = (step: Step): string =>
  `${step.name ?? ""} ${isRequest(step) ? `${step.method} ${step.path}` : "git"}`;

describe.skipIf(isSkipped)("the recordings of Gitea", () => {
  it("are in the folder of EDGEFORGE_RECORDINGS, and some can be played", () => {
    expect(played.length).toBeGreaterThan(0);
  });

  it.each(played)("$name: answers as recorded", { timeout: 120_000 }, async ({ name, steps }) => {
    const player = await Player.start(steps);
    const comparison = new Comparison(serviceUrl, player.run);
    const differences: string[] = [];
    onTestFinished(() => player.stop());
    const findOpen = async (step: Step): Promise<string[]> => {
      const found = isRequest(step)
        ? comparison.find(step.answer, await player.play(step))
        : comparison.findGit(step, await player.runGit(step));
      if (!isCompared(step)) return [];
      return found.filter((difference) => !isDecided(name, labelOf(step), difference));
    };
    for (const [at, step] of steps.entries()) {
      const takeBack = comparison.save();
      let open = await findOpen(step);
      // What follows from a write is the work of a job here: a read is asked again until it is
      // done.
      for (let tries = 1; open.length > 0 && isRead(step) && tries < TRIES_MAX; tries++) {
        await setTimeout(WAIT_MS);
        // An answer from before the job names other objects.
        takeBack();
        open = await findOpen(step);
      }
      differences.push(...open.map((difference) => `${at} ${labelOf(step)} ${difference}`));
    }
    expect(differences).toEqual([]);
  });

  it("show every difference of the list", () => {
    expect(decided.filter((each) => !used.has(each))).toEqual([]);
  });
});
