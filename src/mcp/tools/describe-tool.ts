import { z } from "@hono/zod-openapi";

import type { Tool } from "./tool.ts";

/** A tool as the protocol describes it. */
interface Description {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { type: "object"; [key: string]: unknown };
  readonly annotations: { readOnlyHint: true } | { destructiveHint: boolean };
}

const described = new Map<Tool, Description>();

/**
 * Describes a tool, once in an isolate.
 *
 * @param isRepositoryKnown Whether the argument `repository` may be left out.
 */
export function describeTool(tool: Tool, isRepositoryKnown: boolean): Description {
  const known = described.get(tool) ?? describe(tool);
  described.set(tool, known);
  return isRepositoryKnown ? withKnownRepository(known) : known;
}

function describe({ name, description, effect, input }: Tool): Description {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(input, {
    io: "input",
    override: ({ jsonSchema }) => {
      for (const limit of LIMITS) delete jsonSchema[limit];
      if (jsonSchema.enum) delete jsonSchema.type;
    },
  });
  return {
    name,
    description,
    inputSchema: { ...schema, type: "object" },
    annotations:
      effect === "read" ? { readOnlyHint: true } : { destructiveHint: effect === "destructive" },
  };
}

/**
 * What arguments are checked for and no model asks: the list of tools is read anew in each
 * conversation.
 */
const LIMITS = [
  "maxLength",
  "minLength",
  "maximum",
  "minimum",
  "maxItems",
  "propertyNames",
] as const;

function withKnownRepository(description: Description): Description {
  const { required = [], ...schema } = description.inputSchema as {
    type: "object";
    required?: readonly string[];
  };
  const left = required.filter((name) => name !== "repository");
  const inputSchema = { ...schema, ...(left.length > 0 && { required: left }) };
  return { ...description, inputSchema };
}
