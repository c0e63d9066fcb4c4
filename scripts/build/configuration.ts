/** A part of workerd's configuration, as Miniflare writes it. */
export type Json = { [name: string]: unknown };
export type Service = Json & { name: string };
export type ConfiguredWorker = Json & { bindings: Json[]; modules: Json[] };
export type Config = Json & { services: Service[]; sockets: Json[]; extensions: Json[] };

/** The services that `roots` name, and those that these name. */
export function reachedServices(services: Service[], roots: unknown[]): Service[] {
  const byName = new Map(services.map((service) => [service.name, service]));
  const reached = new Set<string>();
  const reach = (part: unknown): void => {
    if (typeof part === "string") {
      const target = byName.get(part);
      if (!target || reached.has(part)) return;
      reached.add(part);
      reach(target);
    } else if (typeof part === "object" && part !== null && !(part instanceof Uint8Array)) {
      for (const each of Object.values(part)) reach(each);
    }
  };
  for (const root of roots) reach(root);
  return services.filter((each) => reached.has(each.name));
}

/** The configuration without services that no socket reaches. */
export const onlyReached = (config: Config): Config => ({
  ...config,
  services: reachedServices(config.services, [config.sockets, "internet"]),
});

/** The Worker with this name of a configuration. */
export function workerOf({ services }: Pick<Config, "services">, name: string): ConfiguredWorker {
  return services.find(isWorker(name))?.["worker"] as ConfiguredWorker;
}

export const isWorker =
  (name: string) =>
  (service: Service): boolean =>
    service.name === `core:user:${name}`;

/** The same configuration, with another name for a service. */
export function renameService<Part>(part: Part, from: string, to: string): Part {
  if (part === from) return to as Part;
  if (Array.isArray(part))
    return part.map((each: unknown) => renameService(each, from, to)) as Part;
  if (typeof part !== "object" || part === null || part instanceof Uint8Array) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, renameService(value, from, to)]),
  ) as Part;
}
