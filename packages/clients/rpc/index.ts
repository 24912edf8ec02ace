/** @lathe/rpc: the messages between Lathe and other programs. */
export { boundedLines, jsonLines, type TooLong } from "./src/json-lines.ts";
export type { PartialAnswer, Question, QuestionedCall, QuestionedFile } from "./src/question.ts";
export {
  createRpcPeer,
  type RpcError,
  type RpcOutcome,
  type RpcPeer,
  type RpcSides,
  rpcCodes,
} from "./src/rpc-peer.ts";
export {
  type ClientMethod,
  type ClientMethods,
  type ListedSession,
  type NamedSession,
  type Notifications,
  type OpenParams,
  type ParamsOf,
  type ResultOf,
  rpcVersion,
  type ServerMethods,
} from "./src/rpc-types.ts";
export type { Turn } from "./src/turn.ts";
