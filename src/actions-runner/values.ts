import type { Timestamp } from "@bufbuild/protobuf/wkt";

import type { WorkResult, WorkState } from "../db/schema/index.ts";
import type { LogRow as StoredRow } from "../domain/actions/tasks/log-rows.ts";
import { type LogRow, Result } from "./messages/runner/v1/messages_pb.ts";

const RESULTS: ReadonlyMap<number, WorkResult> = new Map([
  [Result.SUCCESS, "success"],
  [Result.FAILURE, "failure"],
  [Result.CANCELLED, "cancelled"],
  [Result.SKIPPED, "skipped"],
]);

/** How something ended; undefined while it has not, and for a number that means nothing. */
export const toWorkResult = (result: number): WorkResult | undefined => RESULTS.get(result);

/** Unspecified for what has not ended. */
export function fromWorkState(state: WorkState): Result {
  switch (state) {
    case "success":
      return Result.SUCCESS;
    case "failure":
      return Result.FAILURE;
    case "cancelled":
      return Result.CANCELLED;
    case "skipped":
      return Result.SKIPPED;
    default:
      return Result.UNSPECIFIED;
  }
}

/** In milliseconds; undefined without a time, and for the zero time of Go. */
export function toMs(time: Timestamp | undefined): number | undefined {
  const ms = time && Number(time.seconds) * 1000 + Math.floor(time.nanos / 1_000_000);
  return ms !== undefined && ms > 0 ? ms : undefined;
}

export const toRow = ({ time, content }: LogRow): StoredRow => ({
  timeMs: toMs(time) ?? 0,
  nanos: (time?.nanos ?? 0) % 1_000_000,
  text: content,
});
