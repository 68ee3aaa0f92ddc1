/** The job can't go on, for a reason that its message tells whole. */
export class Failure extends Error {}
