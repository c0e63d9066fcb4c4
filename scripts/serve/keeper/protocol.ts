/**
 * How an entry process reaches the keeper, the process that has databases and objects: by HTTP on a
 * socket for bindings that are HTTP services, and on the same socket by a connection of RPC.
 */

/** The name of the socket, and of the Worker that answers there. */
export const KEEPER = "keeper";

/** The host to which workerd sends a CONNECT for a connection of RPC. */
export const KEEPER_HOST = "keeper.invalid";

/** Names the service of the keeper for which a request is. */
export const SERVICE_HEADER = "edgeforge-keeper-service";

/** The socket of an entry process, and the service of the keeper, that report writes. */
export const WRITES = "writes";

/** The address of a write of a scope, which all of them take. */
export const urlOfWrite = (scope: string): string => `http://${WRITES}/${scope}`;
