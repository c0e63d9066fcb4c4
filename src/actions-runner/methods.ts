import type {
  DescMessage,
  DescMethodUnary,
  JsonObject,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import {
  createMethodImplSpec,
  type HandlerContext,
  type MethodImplSpec,
} from "@connectrpc/connect";

import type { Ctx } from "../context.ts";
import type { Runner } from "../db/schema/index.ts";
import { declareRunner } from "../domain/actions/runners/declare-runner.ts";
import { registerRunner } from "../domain/actions/runners/register-runner.ts";
import { appendLog } from "../domain/actions/tasks/append-log.ts";
import { type HandedTask, takeTask } from "../domain/actions/tasks/take-task.ts";
import { updateTask } from "../domain/actions/tasks/update-task.ts";
import { malformed } from "../lib/failure.ts";
import { answering, credentialOf } from "./caller.ts";
import { PingService } from "./messages/ping/v1/services_pb.ts";
import { RunnerService } from "./messages/runner/v1/services_pb.ts";
import { fromWorkState, toMs, toRow, toWorkResult } from "./values.ts";

/** What newer runners ask for: that a task which is cancelled may clean up. */
const CAPABILITIES_HEADER = "X-Gitea-Actions-Capabilities";
const CAPABILITIES = "cancelling";

const encoder = new TextEncoder();

const { ping } = PingService.method;
const { register, declare, fetchTask, updateTask: update, updateLog } = RunnerService.method;

/** A method of a service with what answers it. */
const method = <I extends DescMessage, O extends DescMessage>(
  described: DescMethodUnary<I, O>,
  answer: (
    ctx: Ctx,
    request: MessageShape<I>,
    context: HandlerContext,
  ) => Promise<MessageInitShape<O>>,
): MethodImplSpec =>
  createMethodImplSpec(described, (request, context) =>
    answering(context, (ctx) => answer(ctx, request, context)),
  );

/** What the services of runners do. */
export const methods: readonly MethodImplSpec[] = [
  method(ping, async (_ctx, { data }) => ({ data: `Hello, ${data}!` })),

  method(register, async (ctx, request) => {
    const { name, token, version, ephemeral: isEphemeral, capabilities } = request;
    const old = [...request.agentLabels, ...request.customLabels];
    const labels = request.labels.length > 0 ? request.labels : old;
    const registration = { name, token, version, labels, capabilities, isEphemeral };
    const { runner, token: runnerToken } = await registerRunner(ctx, registration);
    return { runner: { ...toRunner(runner), token: runnerToken, ephemeral: isEphemeral } };
  }),

  method(declare, async (ctx, { version, labels, capabilities }, context) => {
    const runner = await declareRunner(ctx, await credentialOf(context), {
      version,
      labels,
      capabilities,
    });
    context.responseHeader.set(CAPABILITIES_HEADER, CAPABILITIES);
    return { runner: toRunner(runner) };
  }),

  method(fetchTask, async (ctx, { tasksVersion: known }, context) => {
    const fetched = await takeTask(ctx, await credentialOf(context), Number(known));
    const { task } = fetched;
    return { tasksVersion: BigInt(fetched.tasksVersion), ...(task && { task: toTask(task) }) };
  }),

  method(update, async (ctx, { state, outputs }, context) => {
    if (!state) throw malformed("the report has no state");
    const answer = await updateTask(ctx, await credentialOf(context), {
      taskId: Number(state.id),
      result: toWorkResult(state.result),
      stoppedAt: toMs(state.stoppedAt),
      steps: state.steps.map((step) => ({
        index: Number(step.id),
        result: toWorkResult(step.result),
        startedAt: toMs(step.startedAt),
        stoppedAt: toMs(step.stoppedAt),
        logIndex: Number(step.logIndex),
        logLength: Number(step.logLength),
      })),
      outputs,
    });
    return {
      state: { id: state.id, result: fromWorkState(answer.state) },
      sentOutputs: [...answer.outputs],
    };
  }),

  method(updateLog, async (ctx, { taskId, index, rows, noMore }, context) => {
    const rowCount = await appendLog(ctx, await credentialOf(context), {
      taskId: Number(taskId),
      index: Number(index),
      rows: rows.map(toRow),
      isLast: noMore,
    });
    return { ackIndex: BigInt(rowCount) };
  }),
];

const toRunner = ({ id, uuid, name, version, labels }: Runner) => ({
  id: BigInt(id),
  uuid,
  name,
  version,
  labels: [...labels],
});

const toTask = ({ id, payload, context, secrets, variables, needs }: HandedTask) => ({
  id: BigInt(id),
  workflowPayload: encoder.encode(payload),
  context: context as JsonObject,
  secrets: { ...secrets },
  vars: { ...variables },
  needs: Object.fromEntries(
    [...needs].map(([key, { outputs, result }]) => [
      key,
      { outputs: { ...outputs }, result: fromWorkState(result) },
    ]),
  ),
});
