class CommonParamsModel:
    path: str

class CommonParams:
    model: CommonParamsModel
    model_alias: set[str]
    n_ctx: int
    n_parallel: int
    cache_ram_mib: int
    hostnames: list[str]
    port: int
    api_keys: list[str]
    ui: bool
    verbosity: int
    endpoint_metrics: bool

class Server:
    def __init__(self, params: CommonParams) -> None: ...
    @property
    def listening_address(self) -> str: ...
    def handle_metrics(self) -> str: ...
