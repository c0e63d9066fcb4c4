import type { SampleRequest, Samples } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";
import type { LevelRow } from "../../support/action-values.ts";

/** A level of secrets, variables and runners, as samples of their operations need it. */
export interface SampledLevel {
  /** The level in the ids of operations, at their beginning and within. */
  readonly prefix: string;
  readonly infix: string;
  readonly row: (world: World) => Promise<LevelRow>;
  /** The caller, if it is not the world's user, and the parameters of the path. */
  readonly request: (world: World) => Promise<Pick<SampleRequest, "as"> & { path: Path }>;
}

type Path = Record<string, string | number>;

const WITH_SECRETS: readonly SampledLevel[] = [
  {
    prefix: "repo",
    infix: "Repo",
    row: async (world) => ({ repoId: (await world.repo()).id }),
    request: async (world) => ({ path: await world.repoPath() }),
  },
  {
    prefix: "org",
    infix: "Org",
    row: async (world) => ({ ownerId: (await world.org()).id }),
    request: async (world) => ({ path: await world.orgPath() }),
  },
  {
    prefix: "user",
    infix: "User",
    row: async (world) => ({ ownerId: (await world.user()).id }),
    request: async () => ({ path: {} }),
  },
];

const SERVICE: SampledLevel = {
  prefix: "admin",
  infix: "Admin",
  row: async () => ({}),
  request: async (world) => ({ as: await world.admin(), path: {} }),
};

/** The samples of the operations of each level. */
export const samplesOf = (
  samplesAt: (level: SampledLevel) => Samples,
  levels: readonly SampledLevel[] = [...WITH_SECRETS, SERVICE],
): Samples => Object.assign({}, ...levels.map(samplesAt)) as Samples;

/** The same, of the levels that have secrets. */
export const samplesOfSecrets = (samplesAt: (level: SampledLevel) => Samples): Samples =>
  samplesOf(samplesAt, WITH_SECRETS);

/** The request of a level with one more parameter, for something that is made there. */
export const onOne =
  (
    { row, request }: SampledLevel,
    parameter: string,
    nameOf: (row: LevelRow) => Promise<string | number>,
    content: Pick<SampleRequest, "json"> = {},
  ) =>
  async (world: World): Promise<SampleRequest> => {
    const { path, ...caller } = await request(world);
    return {
      ...caller,
      ...content,
      path: { ...path, [parameter]: await nameOf(await row(world)) },
    };
  };
