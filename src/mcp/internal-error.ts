import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

import { logBug } from "../lib/log.ts";

/**
 * Logs an error that no caller could have avoided, and returns the error that the caller gets.
 *
 * SECURITY: the library would send the message of any other error, and that of a query has its
 * values.
 */
export function internalError(requestId: string, error: unknown): ProtocolError {
  logBug(requestId, error);
  return new ProtocolError(ProtocolErrorCode.InternalError, `internal error, request ${requestId}`);
}
