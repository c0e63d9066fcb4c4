import type { z } from "@hono/zod-openapi";

import type { Scope } from "../../auth/scope.ts";
import type { Answer } from "../answer.ts";
import type { McpCall } from "../call.ts";

/**
 * What a call does to what is stored: nothing; adds or changes something; or takes something away
 * that another call does not bring back.
 */
type Effect = "read" | "write" | "destructive";

/** A tool as it is offered to models. */
export interface Tool {
  readonly name: string;
  /** What it does, for a model that chooses among tools. */
  readonly description: string;
  readonly effect: Effect;
  /** The scopes of the operations that it calls: without them it is not offered. */
  readonly scopes: readonly Scope[];
  /** Whether it works in one repository, which is what a token bound to repositories reaches. */
  readonly isOfRepository: boolean;
  readonly input: z.ZodObject;
  run(call: McpCall, args: unknown): Promise<Answer>;
}

interface Definition<Shape extends z.ZodRawShape> extends Omit<
  Tool,
  "input" | "run" | "isOfRepository"
> {
  readonly input: z.ZodObject<Shape>;
  run(call: McpCall, args: z.infer<z.ZodObject<Shape>>): Promise<Answer>;
}

/** Defines a tool. Its arguments have been checked against `input` before it runs. */
export const tool = <Shape extends z.ZodRawShape>(definition: Definition<Shape>): Tool => ({
  ...definition,
  isOfRepository: "repository" in definition.input.shape,
  run: (call, args) => definition.run(call, args as z.infer<z.ZodObject<Shape>>),
});
