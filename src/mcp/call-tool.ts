import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { z } from "@hono/zod-openapi";

import { recordToolCall } from "../domain/people/audit/record-tool-call.ts";
import { asFailure } from "../entrance/as-failure.ts";
import { Failure } from "../lib/failure.ts";
import { type Answer, renderAnswer, type RenderedAnswer } from "./answer.ts";
import type { McpCaller } from "./call.ts";
import { internalError } from "./internal-error.ts";
import type { Tool } from "./tools/tool.ts";

interface Params {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Calls a tool. What it refuses is an answer too, so that a model can read why; a call that wrote
 * is in the audit log with the name of the client.
 *
 * @throws ProtocolError for a tool that is not among `tools`.
 */
export async function callTool(
  caller: McpCaller,
  tools: readonly Tool[],
  { name, arguments: given = {} }: Params,
): Promise<RenderedAnswer | Refusal> {
  const tool = tools.find((each) => each.name === name);
  if (!tool)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `there is no tool ${JSON.stringify(name.slice(0, 100))} for this token`,
    );
  const { boundTo } = caller;
  const args = tool.input.safeParse(
    tool.isOfRepository && boundTo !== undefined ? { repository: boundTo, ...given } : given,
  );
  if (!args.success) return refuse(z.prettifyError(args.error));
  try {
    return renderAnswer(await runRecorded(caller, tool, args.data));
  } catch (thrown) {
    const error = asFailure(thrown);
    if (error instanceof Failure) return refuse(error.message);
    throw internalError(caller.requestId, error);
  }
}

/** Runs a tool. A call that is refused may have written before. */
async function runRecorded(
  caller: McpCaller,
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const { api, client, ctx } = caller;
  try {
    return await tool.run({ ...caller, actor: ctx.actor }, args);
  } finally {
    if (api.hasWritten) {
      const { repository } = args as { repository?: string };
      await recordToolCall(ctx, { tool: tool.name, client, repository });
    }
  }
}

/** What a tool refuses, as the protocol has it. */
type Refusal = Pick<RenderedAnswer, "content"> & { readonly isError: true };

const refuse = (message: string): Refusal => ({
  content: [{ type: "text", text: message }],
  isError: true,
});
