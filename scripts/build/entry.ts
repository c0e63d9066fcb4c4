import { KEEPER, KEEPER_HOST, SERVICE_HEADER, WRITES } from "../serve/keeper/protocol.ts";
import { readLocalModule } from "./local-bindings.ts";
import {
  type Config,
  type ConfiguredWorker,
  isWorker,
  type Json,
  onlyReached,
  type Service,
} from "./configuration.ts";

/** A reference to a service of the configuration. */
type Designator = Json & { name: string };

const DATABASES = "local-database";
const BUCKETS = "local-bucket";
const READER = "BucketReader";

/** Services with state of their own, which an entry process calls in the keeper. */
const KEPT = new Set(["local-queue", "ratelimit:ns:entry", "cache:0"]);

const WRITES_BINDING = { name: WRITES, service: { name: WRITES } };

const REPOSITORIES = "edgeforge:keeper-repositories";

/**
 * The configuration of the keeper and that of an entry process, from that of one process that is
 * both.
 *
 * An entry process has the Worker and what reads files: the database, which sends what may write to
 * the keeper, and the bucket, which asks the keeper where the bytes of a key are.
 */
export function divide(
  config: Config,
  name: string,
  socket: string,
): { keeper: Config; entry: Config } {
  const kept = new Map<string, Designator>();
  const externals: Service[] = [
    { name: KEEPER, external: { http: { capnpConnectHost: KEEPER_HOST } } },
  ];
  const toExternal = (key: string, designator: Designator): Designator => {
    kept.set(key, designator);
    const service = `${KEEPER}:${key}`;
    const injectRequestHeaders = [{ name: SERVICE_HEADER, value: key }];
    externals.push({ name: service, external: { http: { injectRequestHeaders } } });
    return { name: service };
  };
  const divideWorker = (worker: ConfiguredWorker): ConfiguredWorker => {
    const { durableObjectNamespaces: _, durableObjectStorage: __, ...rest } = worker;
    const bindings = worker.bindings.map(divideBinding);
    const cacheApiOutbound = toExternal("cache", worker["cacheApiOutbound"] as Designator);
    return { ...rest, bindings, cacheApiOutbound };
  };
  const services = config.services.map((service) => {
    const worker = service["worker"] as ConfiguredWorker;
    if (isWorker(name)(service)) return { ...service, worker: divideWorker(worker) };
    return service.name === BUCKETS ? { ...service, worker: readingBuckets(worker) } : service;
  });
  const esModule = readLocalModule("keeper/repositories");
  const entry = onlyReached({
    ...config,
    services: [...services, ...externals],
    extensions: [
      ...config.extensions,
      { modules: [{ name: REPOSITORIES, esModule, internal: true }] },
    ],
    sockets: [
      ...config.sockets.filter((each) => each["name"] === socket),
      {
        name: WRITES,
        service: { name: `core:user:${name}`, entrypoint: "WritesElsewhere" },
        http: {},
      },
    ],
  });

  const keeper = {
    ...config,
    services: [
      ...config.services.map((each) => (each.name === DATABASES ? withWrites(each) : each)),
      keeperService(name, kept),
      { name: WRITES, external: { http: {} } },
    ],
    sockets: [
      ...config.sockets,
      { name: KEEPER, service: { name: KEEPER }, http: { capnpConnectHost: KEEPER_HOST } },
    ],
  };
  return { keeper, entry };

  function divideBinding(binding: Json): Json {
    const key = String(binding["name"]);
    if (binding["durableObjectNamespace"]) {
      const innerBindings = [{ name: KEEPER, service: { name: KEEPER } }];
      return { name: key, wrapped: { moduleName: REPOSITORIES, innerBindings } };
    }
    const bucket = binding["r2Bucket"] as (Designator & { props: { json: string } }) | undefined;
    if (bucket) kept.set((JSON.parse(bucket.props.json) as { bucket: string }).bucket, bucket);
    const queue = binding["queue"] as Designator | undefined;
    if (queue) return { ...binding, queue: toExternal(key, queue) };
    const wrapped = binding["wrapped"] as (Json & { innerBindings: Json[] }) | undefined;
    if (!wrapped) return binding;
    const inner = wrapped.innerBindings.flatMap((each) => {
      const service = each["service"] as Designator | undefined;
      if (service && KEPT.has(service.name))
        return [{ ...each, service: toExternal(key, service) }];
      const isDatabase = each["durableObjectNamespace"] !== undefined;
      return isDatabase ? [each, { name: KEEPER, service: { name: KEEPER } }] : [each];
    });
    return { ...binding, wrapped: { ...wrapped, innerBindings: inner } };
  }
}

/** The local bucket, with readers in place of its objects. */
function readingBuckets({ bindings, durableObjectNamespaces, ...rest }: ConfiguredWorker) {
  const [namespace] = durableObjectNamespaces as Json[];
  const object = { className: READER, serviceName: BUCKETS };
  return {
    ...rest,
    bindings: [
      ...bindings.filter((each) => each["durableObjectNamespace"] === undefined),
      { name: "objects", durableObjectNamespace: object },
      { name: KEEPER, service: { name: KEEPER } },
    ],
    durableObjectNamespaces: [{ ...namespace, className: READER }],
  };
}

/** A Worker that tells of its writes. */
function withWrites(service: Service): Service {
  const worker = service["worker"] as ConfiguredWorker;
  return { ...service, worker: { ...worker, bindings: [WRITES_BINDING] } };
}

function keeperService(name: string, kept: ReadonlyMap<string, Designator>) {
  return {
    name: KEEPER,
    worker: {
      compatibilityDate: "2026-10-20",
      modules: [{ name: "keeper.js", esModule: readLocalModule("keeper/worker") }],
      bindings: [
        {
          name: "databases",
          durableObjectNamespace: { className: "LocalDatabase", serviceName: DATABASES },
        },
        {
          name: "repositories",
          durableObjectNamespace: {
            className: "RepositoryObject",
            serviceName: `core:user:${name}`,
          },
        },
        WRITES_BINDING,
        ...[...kept].map(([key, service]) => ({ name: key, service })),
      ],
    },
  };
}
