import type { TestUser } from "../make.ts";
import { fillPath } from "../operations.ts";
import { isRead, type SampledOperation } from "./gather.ts";
import type { SampleRequest } from "./sample.ts";
import { World } from "./world.ts";

/** A request of an operation, ready to be sent. */
export interface ReadyRequest {
  method: string;
  /** Path below `/api/v1`, with its query. */
  path: string;
  /** Values of the path parameters. */
  values: NonNullable<SampleRequest["path"]>;
  /** The body, without a credential. */
  content: Pick<SampleRequest, "json" | "body">;
  /** A caller with permission. */
  caller: TestUser;
}

/** Creates the data that an operation's sample needs in a world, and composes its request. */
export async function requestIn(world: World, operation: SampledOperation): Promise<ReadyRequest> {
  return compose(world, operation, await operation.sample.request(world));
}

/** The request of an operation's sample, and its variants that lead to other SQL. */
export async function allRequestsIn(
  world: World,
  operation: SampledOperation,
): Promise<ReadyRequest[]> {
  const own = await operation.sample.request(world);
  const variants = (await operation.sample.variants?.(world)) ?? [];
  const changes = [{}, ...variants];
  return Promise.all(changes.map((change) => compose(world, operation, { ...own, ...change })));
}

async function compose(
  world: World,
  operation: SampledOperation,
  { path = {}, query = {}, as, ...content }: SampleRequest,
): Promise<ReadyRequest> {
  const search = new URLSearchParams(query).toString();
  return {
    method: operation.method,
    path: `${fillPath(operation.path, path)}${search && `?${search}`}`,
    values: path,
    content,
    caller: as ?? (await world.user()),
  };
}

/** Composes requests: reads share one world, each write has its own. */
export function requestMaker(): (operation: SampledOperation) => Promise<ReadyRequest> {
  const shared = new World();
  return (operation) => requestIn(isRead(operation) ? shared : new World(), operation);
}
