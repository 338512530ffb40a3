import pytest


@pytest.fixture
def repository(tmp_path):
    """Writes files into an empty repository; what is given without content is empty."""

    def write(files):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return tmp_path

    return write
