import type { Ctx } from "../../../context.ts";
import type { TagProtection } from "../../../db/schema/index.ts";
import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import type { ShortPattern } from "../../../render/linear-pattern.ts";
import { StepBudget } from "../../../lib/step-budget.ts";
import type { RepositoryRules } from "../../../shapes/repos/repository-rules.ts";
import type { RefUpdate } from "../../../storage/repository-records.ts";
import { callerOf, isListed } from "./permitted.ts";
import { ProtectedRef } from "./ref-refusal.ts";
import { isPattern, matchesPattern } from "./rule-patterns.ts";

/** Steps to compare the tags of a push with the rules: about a second of processor time. */
const STEPS_MAX = 100_000_000;
const STEPS_PER_RULE = 20;
/** Steps for each state and character of a regular expression. */
const STEPS_PER_STATE = 5;

const TAGS = "refs/tags/";

/**
 * The source of a regular expression, which stands between slashes; undefined for another pattern.
 */
const sourceOf = (namePattern: string): string | undefined =>
  /^\/(?<source>.+)\/$/s.exec(namePattern)?.groups?.["source"];

/** Whether a rule can have this pattern. */
export async function isTagPattern(namePattern: string): Promise<boolean> {
  const source = sourceOf(namePattern);
  if (source === undefined) return isPattern(namePattern);
  return (await openExpression(source)) !== undefined;
}

/** The engine of regular expressions is loaded by the services that use it. */
async function openExpression(source: string): Promise<ShortPattern | undefined> {
  const { openShortPattern } = await import("../../../render/linear-pattern.ts");
  return openShortPattern(source);
}

/**
 * Checks the updates of one push against the rules for tags. Only users and teams in one of the
 * matching rules create, move and delete a tag. The rules bind administrators too.
 */
export class TagRule {
  private readonly ctx: Ctx;
  private readonly rules: RepositoryRules;
  private readonly expressions = new Map<string, Promise<ShortPattern | undefined>>();
  private readonly budget: StepBudget;

  constructor(ctx: Ctx, rules: RepositoryRules, stepsMax = STEPS_MAX) {
    this.ctx = ctx;
    this.rules = rules;
    this.budget = new StepBudget(stepsMax, {
      onSteps: (steps) => void (ctx.git.usage.steps += steps),
    });
  }

  /** Returns why the rules refuse an update; undefined if they do not. */
  async findRefusal({ ref }: RefUpdate): Promise<ProtectedRef | undefined> {
    if (!ref.startsWith(TAGS)) return undefined;
    const name = decodeText(ref.slice(TAGS.length) as ByteText);
    return (await this.isAllowed(name))
      ? undefined
      : new ProtectedRef(name, { kind: this.budget.isExhausted ? "too-much" : "tag" });
  }

  /** Whether the caller may create, move and delete a tag. */
  async isAllowed(name: string): Promise<boolean> {
    const caller = callerOf(this.ctx, this.rules);
    let isProtected = false;
    for (const rule of this.rules.tags) {
      if (this.budget.isExhausted) return false;
      if (!(await this.matches(rule, name))) continue;
      if (isListed(rule, caller)) return true;
      isProtected = true;
    }
    return !isProtected;
  }

  /** Whether all steps are used: what is compared from then on may be wrong. */
  get isExhausted(): boolean {
    return this.budget.isExhausted;
  }

  /** Whether a rule is about a tag. */
  async matches({ namePattern }: TagProtection, name: string): Promise<boolean> {
    this.budget.consume(STEPS_PER_RULE);
    const source = sourceOf(namePattern);
    if (source === undefined) return matchesPattern(namePattern, name, this.budget);
    const known = this.expressions.get(source) ?? openExpression(source);
    this.expressions.set(source, known);
    const expression = await known;
    this.budget.consume(STEPS_PER_STATE * (expression?.states ?? 0) * name.length);
    return expression?.matches(name) ?? false;
  }
}
